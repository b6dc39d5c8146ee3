-- The first request: the tools that the class of the question gets, a prompt that names just these, the
-- conversation as far as there is room, and the question.

BT.tree("compose", {
  root = BT.sequence("compose", {
    BT.action("grant the first tools", { fn = "oracle.bt.actions.compose.grant_first_tools" }),
    BT.action("write the prompt", { fn = "oracle.bt.actions.compose.write_prompt" }),
    BT.action("add the history", { fn = "oracle.bt.actions.compose.add_history" }),
    BT.action("add the question", { fn = "oracle.bt.actions.compose.add_question" }),
  }),
})
