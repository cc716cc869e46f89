// SPDX-License-Identifier: Apache-2.0

// Command nethttp is a webhook that reads the envelope and always allows. It
// shows the cost of a handler on Go's own server. Usage: nethttp PORT CERT KEY
package main

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
)

type request struct {
	UID    string          `json:"uid"`
	Object json.RawMessage `json:"object"`
}

type response struct {
	UID     string `json:"uid"`
	Allowed bool   `json:"allowed"`
}

type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in review
	if err != nil || json.Unmarshal(body, &in) != nil || in.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	in.Response = &response{UID: in.Request.UID, Allowed: true}
	in.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(in)
}

func main() {
	server := &http.Server{
		Addr:         "127.0.0.1:" + os.Args[1],
		Handler:      http.HandlerFunc(answer),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	log.Fatal(server.ListenAndServeTLS(os.Args[2], os.Args[3]))
}
