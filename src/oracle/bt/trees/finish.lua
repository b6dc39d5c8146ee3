-- Played whatever ended the run: an answer, the reason, what was tried, what is missing.

local finish = BT.leaves("oracle.bt.actions.finish")
local say = BT.leaves("oracle.bt.actions.say")
local citations = BT.leaves("oracle.bt.actions.citations")

BT.tree("finish", {
  root = BT.sequence("finish", {
    say.pending_chunks,
    finish.name_the_reason,
    BT.guard("calls of the last response were not run", { "bb.calls_wait", finish.say_which_calls_were_not_run }),
    finish.sum_up,
    BT.guard("the model gave no answer", { "bb.answer == ''", finish.answer_from_the_evidence }),
    -- Marks the citations that do not hold. If this node is removed, the answer stays as the model wrote it.
    citations.check_citations,
    citations.say_sources,
  }),
})
