-- SPDX-License-Identifier: Apache-2.0
-- POSTs reviews in turn. MIX has a line `PATH FILE` for each.
local requests, at = {}, 0

function init()
	for path, file in os.getenv("MIX"):gmatch("(%S+) (%S+)") do
		local f = assert(io.open(file, "rb"))
		local body = f:read("*a")
		f:close()
		requests[#requests + 1] = wrk.format("POST", path,
			{["Content-Type"] = "application/json"}, body)
	end
end

function request()
	at = at % #requests + 1
	return requests[at]
end
