-- Played whatever ended the run: an answer, the reason, what was tried, what is missing.

local finish = BT.leaves("oracle.bt.actions.finish")
local oracle = BT.leaves("oracle.bt.actions.oracle")
local citations = BT.leaves("oracle.bt.actions.citations")

BT.tree("finish", {
  root = BT.sequence("finish", {
    oracle.say_pending_chunks,
    finish.name_the_reason,
    finish.sum_up,
    BT.guard("the model gave no answer", { "bb.answer == ''", finish.answer_from_the_evidence }),
    -- Without this one the answer stays as the model wrote it.
    citations.check_citations,
    citations.say_sources,
  }),
})
