-- A reader that stops as soon as it knows enough.
--
-- Round after round it opens one more document, within a time limit, until it has found what it was asked for
-- or the shelf is empty. Whatever happens, the finish branch says something.

BT.tree("reader", {
  description = "Reads documents until the question is answered",
  blackboard = {
    question = "string",
    shelf = { type = "list", default = {} },
    found = { type = "list", default = {} },
  },

  root = BT.loop("reading", {
    max = 10,
    BT.selector("round", {
      BT.sequence("enough", {
        BT.condition("found something", { expression = "#bb.found > 0" }),
        BT.exit("reading"),
      }),
      BT.sequence("read on", {
        BT.condition("something unread", { expression = "#bb.shelf > 0" }),
        BT.timeout("a moment", { seconds = 2, BT.action("open next", { fn = "leaves.open_next" }) }),
      }),
    }),
  }),

  finish = BT.action("answer", { fn = "leaves.answer" }),
})
