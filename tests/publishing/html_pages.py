"""What holds for every report: nothing from outside, well-formed, and one script, which the page's policy names."""

import base64
import hashlib
import re

from lxml import etree, html

from conf import resources


def checked(text: str) -> html.HtmlElement:
    """The parsed page without its script, after the checks that hold for all reports."""
    assert not re.findall(r"(?:src|href)=\"(?!#)", text)
    assert "@import" not in text
    assert "url(" not in text
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert script == resources.text("reports/report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';" in text
    rest = text.replace(f"<script>{script}</script>", "")
    body = rest.partition("<body>")[2].partition("</body>")[0]
    etree.fromstring(f"<body>{body.replace(' hidden>', '>')}</body>")  # every tag is closed
    page = html.fromstring(rest)
    assert not page.xpath("//script | //img | //@onerror")
    assert "&lt;h3" not in rest
    assert "&lt;svg" not in rest
    assert "&lt;p>" not in rest
    assert not re.search(r"&amp;(?:lt|gt|amp|#39|#34);", rest)
    for target in page.xpath("//a/@href"):
        assert page.xpath(f"//*[@id='{target.lstrip('#')}']"), target
    return page
