-- Played whatever ended the run: an answer, the reason, what was tried, what is missing.

BT.tree("finish", {
  root = BT.sequence("finish", {
    BT.action("say what is pending", { fn = "oracle.bt.actions.telling.say_pending" }),
    BT.action("last words", { fn = "oracle.bt.actions.finish.say_last_words" }),
    -- Without this one the answer stays as the model wrote it.
    BT.action("check citations", { fn = "oracle.bt.actions.citations.check_citations" }),
    BT.action("show sources", { fn = "oracle.bt.actions.citations.say_sources" }),
  }),
})
