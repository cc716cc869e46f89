# SPDX-License-Identifier: Apache-2.0
"""Parse an HTML page of gpugate without a browser, and check the hashes of its
Content-Security-Policy and that it loads nothing else.
"""
import base64
import hashlib
import html.parser
import re

VOID = set("meta input br rect line path circle li option".split())
# Elements of the page; any other one comes from a manifest.
TAGS = set("""html head meta title style body a header h1 h2 h3 h4 p button main
ul li b span strong code pre i u del ins table thead tbody tr th td details
summary form input fieldset label select option output article section footer
script svg rect br div g desc defs pattern text""".split())
ATTRIBUTES = set("""lang charset http-equiv content name class id href type
hidden role aria-label aria-hidden aria-live aria-labelledby placeholder checked
value open scope width height rx data-r data-n data-rule
tabindex xmlns viewbox font-family font-size font-weight fill stroke x y
stroke-opacity stroke-dasharray transform patternunits patterntransform""".split())


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.articles = [], [], []
        self.raw = {"style": "", "script": ""}
        self.meta, self.links = {}, []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.wrong.append(f"<{tag} {name}={value!r}>")
        attrs = dict(attrs)
        if "http-equiv" in attrs:
            self.meta[attrs["http-equiv"]] = attrs["content"]
        if "href" in attrs:
            self.links.append(attrs["href"])
        if tag == "article":
            self.articles.append([0, attrs["data-r"]])
        if tag == "p" and attrs.get("class") == "at" and self.articles:
            self.text = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes another element")
        if tag == "p" and self.articles and not self.articles[-1][0]:
            line = re.match(r"(\d+):\d+ · ", self.text)
            self.articles[-1][0] = int(line[1]) if line else -1

    def handle_data(self, data):
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]] += data
        self.text += data


def read(text, base=""):
    """Return (line, rule) of the findings; ValueError for unexpected
    elements."""
    page = Page()
    page.feed(text)
    page.close()
    wrong = page.wrong
    if page.open:
        wrong.append(f"left open: {page.open}")
    policy = page.meta.get("Content-Security-Policy", "")
    for tag, source in page.raw.items():
        digest = hashlib.sha256(source.encode()).digest()
        word = f"{tag}-src 'sha256-{base64.b64encode(digest).decode()}'"
        if not source or word not in policy:
            wrong.append(f"the policy does not have {word}")
    if not policy.startswith("default-src 'none';"):
        wrong.append("the policy lets in what it does not name")
    if "url(" in page.raw["style"] or "@import" in page.raw["style"]:
        wrong.append("the style sheet asks for something")
    for link in page.links:
        if not link.startswith("#") and not (base and link.startswith(base)):
            wrong.append(f"link: {link}")
    if wrong:
        raise ValueError("; ".join(wrong[:5]))
    return [tuple(article) for article in page.articles]
