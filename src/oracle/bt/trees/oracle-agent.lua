-- How a question becomes an answer.
--
-- The model decides what to look at and writes the answer. This tree decides when it is asked, with which tools, what
-- its signals lead to, and when it is enough. Whatever happens, the finish branch ends with an answer and a reason.
--
-- To read on: assess, compose, turn (which plays budget, decide and work), escalate, coverage, finish.
-- A leaf of "conditions" only looks; a leaf of "actions" does one thing. docs/trees.md explains the kinds of nodes.

local assess = BT.leaves("oracle.bt.actions.assess")
local compose = BT.leaves("oracle.bt.actions.compose")
local coverage = BT.leaves("oracle.bt.conditions.coverage")

local MOST_ROUNDS = 1000 -- the ledger limits the turns; this only stops a changed tree that never ends

-- The keys that leaves and expressions read and write as bb.key. The groups are headings for the reader only.
local keys = {
  -- What the run was started with.
  given = {
    query = "string",
    attachment = { type = "string", default = "" },
    attached = { type = "list", default = {} },
    history = { type = "list", default = {} },
    known_terms = "list?",
    tool_list = { type = "string", default = "[]" },
    model = "object",
    limits = "object",
    can_ask = false,
    seconds_before = 0.0,
    facts = { type = "object", default = {} },
  },

  -- What the question was taken for.
  assessment = {
    topic_shift = false,
    classification = "object?",
    earlier_evidence = 0,
    previous_errors = false,
  },

  -- The conversation with the model, and what it weighs. `pieces` are texts that asked for another turn and
  -- called no tool.
  conversation = {
    messages = { type = "list", default = {} },
    weight = { type = "object", default = { count = 0, tokens = 0, digest = "" } },
    accumulated_content = { type = "string", default = "" },
    answer_so_far = { type = "string", default = "" },
    pieces = { type = "list", default = {} },
  },

  -- The ledger. `seconds_left` is all of the run's remaining time; it is set whenever something begins to wait.
  budget = {
    ledger = "object?",
    seconds_left = 0.0,
    is_overdrawn = false,
  },

  -- This turn. `is_last_turn` means that the tools were withdrawn before it; `calls_wait`, that its calls were
  -- neither run nor refused yet.
  turn = {
    turn_began_at = 0.0,
    turn_is_open = false,
    is_last_turn = false,
    response = "object?",
    was_awaited = false,
    signal = "object?",
    calls = { type = "list", default = {} },
    calls_wait = false,
    is_runaway = false,
  },

  -- What the run remembers about its signals, and what was already done about them. `turns_without_signal` and
  -- `empty_responses` count in a row; `malformed_responses`, `doubts` and `delegations` count in the whole run.
  -- `doubts` are texts that nothing backed and that went back to the model.
  signals = {
    signals_emitted = { type = "list", default = {} },
    last_signal = "object?",
    consecutive_same_reason = 0,
    turns_without_signal = 0,
    signal_consulted = false,
    signal_malformed = false,
    turns_at_last_fallback = 0,
    fallback_classification = "object?",
    malformed_responses = 0,
    empty_responses = 0,
    doubts = 0,
    delegations = { type = "list", default = {} },
  },

  -- Which tools the next request offers: those granted, unless withdrawn one by one (`withdrawn`) or all together
  -- (`tools_withdrawn`). `denied` are tools that a person refused, `refused` are calls that led in circles.
  -- `stop_after_last_turn` is the stop reason of a last turn that names none itself.
  tools = {
    granted = { type = "list", default = {} },
    denied = { type = "list", default = {} },
    withdrawn = { type = "list", default = {} },
    tools_withdrawn = false,
    stop_after_last_turn = { type = "string", default = "" },
    offered = { type = "list", default = {} },
    refused = { type = "list", default = {} },
    tool_reasons = { type = "object", default = {} },
    gaps = { type = "list", default = {} },
  },

  -- What the calls brought. `made` are the calls with the digests of their results, to recognise a repeat.
  -- `words_found` are the words of the question that results had; `yields` says for each call whether it brought one.
  evidence = {
    tool_results = { type = "list", default = {} },
    made = { type = "list", default = {} },
    evidence = { type = "list", default = {} },
    new_by_call = { type = "list", default = {} },
    yields = { type = "list", default = {} },
    words_found = { type = "list", default = {} },
    sources_tried = { type = "list", default = {} },
    sources_empty = { type = "list", default = {} },
  },

  -- The parts of a broad question, and until when they may be read.
  coverage = {
    was_covered = false,
    parts = { type = "list", default = {} },
    parts_wanted = 0,
    parts_until = 0.0,
  },

  -- What repeats, how many turns in a row ran nothing, how long nothing new came, and how many other ways were tried.
  -- `words_at_strategies` and `words_when_told` are how many words of the question were found by then: when each
  -- strategy began, and when the model was told that more calls add nothing. `surplus` are calls refused after that.
  escalation = {
    idle_turns = 0,
    stall = 0,
    loop = "object?",
    strategies_tried = 0,
    words_at_strategies = { type = "list", default = {} },
    words_when_told = -1,
    surplus = { type = "list", default = {} },
  },

  -- How it ended.
  ending = {
    stop_reason = { type = "string", default = "" },
    stop_detail = { type = "string", default = "" },
    is_cut = false,
    failed = false,
    answer = { type = "string", default = "" },
    citations = "list?",
    caveat = "string?",
    usage = { type = "object", default = {} },
    tried = { type = "list", default = {} },
    missing = { type = "list", default = {} },
  },

  -- Messages to the user that wait to be sent.
  _pending_chunks = { type = "list", default = {} },
}

BT.tree("oracle-agent", {
  description = "Answers one question about a project",
  blackboard = keys,

  root = BT.sequence("question", {
    assess.open_ledger,
    BT.subtree("assess"),
    BT.subtree("compose"),
    BT.always_succeed("broad question", BT.sequence("read every part first", {
      BT.selector("spans many parts", {
        BT.subtree("question is broad"),
        coverage.every_use_of_a_name_is_asked_for,
      }),
      coverage.can_be_covered,
      BT.subtree("coverage"),
    })),
    BT.loop("turns", { max = MOST_ROUNDS, BT.subtree("turn") }),
  }),

  finish = BT.subtree("finish"),
})

-- The plain loop that this tree is compared with. Its turns are in baseline.lua. It is here because it has the same keys.
BT.tree("baseline", {
  description = "Answers one question with a plain loop, for comparison",
  blackboard = keys,

  root = BT.sequence("question", {
    assess.open_ledger,
    compose.grant_all_tools,
    compose.write_plain_prompt,
    compose.add_facts,
    compose.add_history,
    compose.add_question,
    compose.add_attached_files,
    BT.loop("turns", { max = MOST_ROUNDS, BT.subtree("plain turn") }),
  }),

  finish = BT.subtree("finish"),
})
