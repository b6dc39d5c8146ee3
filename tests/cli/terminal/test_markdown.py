"""An answer on a terminal: nothing that the model wrote disappears."""

import io

from rich.console import Console

from oracle.cli.terminal.markdown import rendered
from tests.tables import each_row


def drawn(text):
    console = Console(file=io.StringIO(), width=100)
    console.print(rendered(text))
    return " ".join(console.file.getvalue().split())


@each_row(
    "text",
    [
        "It returns Map<String, List<User>> from <T extends Foo>.",
        "<p>The login is in src/auth.py:1.</p>",
        "<div>\nThe login\n</div>",
        "<details><summary>More</summary>It is here.</details>",
        "<?php echo 1 ?>",
        "<!-- a remark -->",
        "<think>It may be here.</think>",
        '[login]: src/auth.py "the login"',
    ],
)
def test_what_only_a_browser_would_read_is_shown_as_it_is(text):
    assert drawn(text) == " ".join(text.split())


def test_links_and_images_are_written_out_in_their_place():
    assert drawn("See [this](http://a.test) and ![that](b.png) too.") == (
        "See this (http://a.test) and !that (b.png) too."
    )
