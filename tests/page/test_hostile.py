"""An answer is text from a model that has read files of others. Nothing in it may act."""

import pytest
from playwright.sync_api import expect

from tests.page.conftest import answer, ask, look

pytestmark = pytest.mark.extra

HOSTILE = """\
# Heading <script>document.title = "owned"</script>

<img src=x onerror="document.title='owned'"> ![a picture](https://evil.example/p.png)

[click](javascript:document.title='owned') <a href="javascript:alert(1)">raw</a>

[data](data:text/html,<script>1</script>) [vb](vbscript:x) [file](file:///etc/passwd)

<iframe src="https://evil.example"></iframe><style>body { display: none }</style>

<form action="https://evil.example"><input></form>

<svg onload="document.title='owned'"><use href="data:image/svg+xml,x"></use></svg>

<div style="position:fixed;inset:0" onclick="document.title='owned'">over everything</div>

```html" onload="x
<script>document.title = "owned"</script>
```

| a | b |
| --- | ---: |
| <b onmouseover=alert(1)>x</b> | `<img src=x onerror=alert(1)>` |

It is in `auth.py:1`."""

FORBIDDEN = (
    "img, script, iframe, style, form, input, svg, object, embed, [style], [onerror], [onload]"
)


def test_a_hostile_answer_is_shown_and_does_nothing(serve, open_page):
    requests = []
    with serve(look(), answer(HOSTILE)) as server:
        page = open_page(server.address)
        page.on("request", lambda request: requests.append(request.url))
        ask(page)
        expect(page.locator(".stop-reason")).to_have_text("answered")
        prose = page.locator(".prose")
        assert prose.locator(FORBIDDEN).count() == 0
        protocols = prose.locator("a:not(.cite)").evaluate_all(
            "all => all.map(one => one.protocol)"
        )
        assert protocols == ["https:"]
        assert page.title() == "oracle"
        expect(prose).to_contain_text("<iframe")
        expect(prose.locator(".cite")).to_contain_text("auth.py:1")
    assert [url for url in requests if not url.startswith(server.address)] == []


def test_a_hostile_question_and_title_are_only_text(serve, open_page):
    question = "Where is login <img src=x onerror=alert(1)> & <b>more</b>?"
    with serve(look(), answer()) as server:
        page = open_page(server.address)
        ask(page, question)
        expect(page.locator("h2.question")).to_have_text(question)
        page.goto(f"{server.address}/runs")
        expect(page.locator("td.q a")).to_have_text(question)
        assert page.locator("td.q img").count() == 0
