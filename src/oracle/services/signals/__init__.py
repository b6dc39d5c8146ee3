"""Signals: taken out of a model's text as it streams, and read. docs/signals.md has the rules.

The layers, in the order in which to read them; each uses only those above it:

| file | question |
| --- | --- |
| `element_fields` | What does one whole element say? |
| `cursor` | Which text is unread, which is held, and which may be shown? |
| `inline_code` | Is a backtick open on this line? |
| `code_fences` | Does this line open or close a code fence? |
| `element_end` | Where does the element at the cursor end? |
| `fence_reader` | Inside a fence: is an element a quotation, or is it the last thing in the text? |
| `text_reader` | Outside: what is shown, where does an element begin, what does it hide? |
| `parser` | The public face: `feed` and `close`, the signal that counts, the warnings. |
| `said` | What did the model write: the text with its signals at their places? |
| `own_marks`, `own_words` | Which tags, lines and words are ours, not the model's? |
| `own_text` | Before the parser: what of a response only repeats our own text? |

The readers are generators. They are written as if the whole text were there: where the text so far
does not decide, they yield, and go on at the same line of code when there is more. So no state has
to be named for "where was I". What a reader does keep is explained where it is set.

Two rules give the same result however the text is cut. A reader passes a character only once it
knows what to do with it, or holds it until it knows. And it decides by what the text says, never by
where a chunk ends, except at the end of the text.

Speed comes from not resuming a reader at all: while it waits in plain text or code, most chunks are
skimmed, which means that they are shown after a look at a few characters.
"""
