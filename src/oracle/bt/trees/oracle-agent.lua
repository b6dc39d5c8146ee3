-- How a question becomes an answer.
--
-- The model decides and writes; this tree decides when it is asked, with which tools, what its signals lead to,
-- and when it is enough. Whatever happens, the finish branch ends with an answer and a reason.

BT.tree("oracle-agent", {
  description = "Answers one question about a project",

  blackboard = {
    -- given
    query = "string",
    attachment = { type = "string", default = "" },
    history = { type = "list", default = {} },
    known_terms = "list?",
    tool_list = { type = "string", default = "[]" },
    model = "object",
    limits = "object",
    can_ask = false,

    -- assessed
    topic_shift = false,
    classification = "object",
    earlier_evidence = 0,
    previous_errors = false,

    -- the conversation with the model
    messages = { type = "list", default = {} },
    weight = { type = "object", default = { count = 0, tokens = 0, digest = "" } },
    accumulated_content = { type = "string", default = "" },
    answer_so_far = { type = "string", default = "" },

    -- the turn
    ledger = "object?",
    seconds_left = 0.0,
    turn_began_at = 0.0,
    turn_is_open = false,
    is_last_turn = false,
    response = "object?",
    was_awaited = false,
    signal = "object?",
    calls = { type = "list", default = {} },
    is_runaway = false,
    is_overdrawn = false,

    -- signals
    signals = { type = "list", default = {} },
    last_signal = "object?",
    signal_consulted = false,
    signal_malformed = false,
    malformed_responses = 0,
    empty_responses = 0,
    consecutive_same_reason = 0,
    turns_without_signal = 0,
    turns_at_last_fallback = 0,
    fallback_classification = "object?",
    doubts = 0,
    delegations = { type = "list", default = {} },

    -- tools
    granted = { type = "list", default = {} },
    offered = { type = "list", default = {} },
    denied = { type = "list", default = {} },
    grant_rung = 0,
    withdrawn = { type = "list", default = {} },
    tools_withdrawn = false,
    why_last = { type = "string", default = "" },
    refused = { type = "list", default = {} },
    gaps = { type = "list", default = {} },
    was_advised = false,

    -- what came of them
    tool_results = { type = "list", default = {} },
    made = { type = "list", default = {} },
    seen = { type = "list", default = {} },
    evidence = { type = "list", default = {} },
    new_by_call = { type = "list", default = {} },
    sources_tried = { type = "list", default = {} },
    sources_empty = { type = "list", default = {} },

    -- a broad question: "due" at the end of the turn, or "done"; its parts, and until when they may be read
    coverage = { type = "string", default = "" },
    parts = { type = "list", default = {} },
    parts_until = 0.0,

    -- being stuck
    loop = "object?",
    ladder_rung = 0,
    turn_of_last_rung = 0,
    strategy = 0,
    strategy_applied = 0,

    -- the end
    _pending_chunks = { type = "list", default = {} },
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

  root = BT.sequence("question", {
    BT.action("open the ledger", { fn = "oracle.bt.actions.assess.open_ledger" }),
    BT.subtree("assess"),
    BT.subtree("compose"),
    BT.guard("it is broad", { expression = "bb.classification.breadth >= 0.4", BT.subtree("coverage") }),
    BT.guard("each use is asked for", {
      fn = "oracle.bt.conditions.coverage.each_use_is_asked_for",
      BT.subtree("coverage"),
    }),
    -- The ledger limits the turns; this bound only stands behind it.
    BT.loop("turns", { max = 1000, BT.subtree("turn") }),
  }),

  finish = BT.subtree("finish"),
})
