-- The cache that answers questions. It can be deleted at any time and rebuilt from the files behind it.
-- Times are UTC without a zone; JSON of the outside world is text whose values are exactly those that came.
-- Every column has its comment; `store` refuses a database whose `lab_meta.schema_version` is not its own.

create table lab_meta (
    name varchar not null,        -- schema_version, duckdb_version, forgotten: what was taken out last, as a digest
    value varchar not null        -- as text
);

create table sources (
    source_id bigint not null,    -- number by which the other tables name it
    path varchar not null,        -- as given, made absolute; relative to the home where it lies below it
    digest varchar not null,      -- sha256 of the file's bytes
    format varchar not null,      -- name of the format that read it
    tenant varchar not null,      -- the tenant it was loaded for
    options varchar not null,     -- JSON text: --source, --style, --map and --format as they were given
    size_bytes bigint not null,   -- of the file as it lies on disk
    report varchar not null       -- JSON text: the file's entry of `load --json`
);

create table conversations (
    conversation_uid uuid not null,   -- md5 of tenant, key space and conversation id
    tenant varchar not null,          -- "default" where none was given
    key_space varchar not null,       -- whose ids these are
    conversation_id varchar not null, -- as given
    source varchar,                   -- the strategy or export it came from
    model varchar,                    -- the model, where the format says
    style varchar,                    -- the style, where the format says
    started_at timestamp,             -- UTC, earliest known
    ended_at timestamp,               -- UTC, latest known
    offered varchar[],                -- digests of the definitions offered; null is "not captured"
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table messages (
    conversation_uid uuid not null,   -- of the conversation
    position integer not null,        -- 0-based, in the order in which the model saw them
    role varchar not null,            -- as given
    text varchar,                     -- what a person would read
    content varchar,                  -- JSON text as it came, where it is more than that text
    message_id varchar,               -- as given
    call_id varchar,                  -- of a tool's answer: the call it answers
    name varchar,                     -- as given
    model varchar,                    -- that wrote it
    created_at timestamp,             -- UTC
    latency_ms double,                -- how long the model took
    input_tokens bigint,              -- as the format counts them
    output_tokens bigint,             -- as the format counts them
    cost_usd double,                  -- as the format says
    finish_reason varchar,            -- as given
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table tool_calls (
    call_uid uuid not null,           -- md5 of tenant, key space and key
    tenant varchar not null,          -- "default" where none was given
    key_space varchar not null,       -- whose ids these are
    key varchar not null using compression uncompressed, -- stable across re-exports
    conversation_uid uuid not null,   -- of its conversation
    conversation_id varchar not null using compression uncompressed, -- as given
    turn integer,                     -- 0-based
    cycle integer,                    -- model round within the turn, 0-based
    call_index integer,               -- over the whole turn, 0-based
    index_in_cycle integer,           -- 0-based
    message_position integer,         -- of the message that made the call
    call_id varchar,                  -- the provider's, as given; it may repeat
    tool_name varchar not null,       -- as given
    tool_server varchar,              -- the MCP server, where known
    wrapped_tool varchar,             -- the real tool behind a dispatcher
    arguments varchar using compression 'zstd', -- JSON text
    arguments_state enum ('object', 'json_string', 'invalid_json', 'absent', 'not_captured') not null, -- what came as arguments
    result varchar using compression 'zstd', -- JSON text
    result_state enum ('present', 'absent', 'pending', 'truncated', 'not_captured') not null, -- what came as result
    empty_result boolean not null,    -- null, "", [] or {}: swallowed errors hide there
    is_error boolean,                 -- null is "the format cannot say"
    error_origin enum ('flag', 'exception', 'exit_code', 'text'), -- how the error was told
    error_kind varchar,               -- as given
    error_text varchar,               -- as given
    outcome enum ('ok', 'error', 'soft_error', 'gated', 'rejected', 'unknown', 'guard') not null, -- by the rule in outcomes.py
    gate_reason varchar,              -- of a gated call: needsVerification, needsOperator, or its reason
    actor enum ('model', 'rule', 'guard', 'user', 'sub_agent') not null, -- who called
    source varchar,                   -- the strategy or export it came from
    style varchar,                    -- where known
    model varchar,                    -- where known
    tool_definition varchar,          -- digest of the definition that was offered
    created_at timestamp,             -- UTC
    latency_ms double,                -- milliseconds
    in_trace boolean not null,        -- seen in a trace export: only these count in rates
    in_feedback boolean not null,     -- seen in a feedback export
    in_case boolean not null,         -- seen in a regression case
    contact_id varchar using compression uncompressed, -- upstream's
    message_id varchar,               -- upstream's
    outbound_id varchar,              -- upstream's outbound queue id
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table tool_definitions (
    digest varchar not null,          -- of name, description and schema
    name varchar not null,            -- as offered
    description varchar,              -- as offered
    parameters varchar,               -- JSON Schema as JSON text; null is "not captured"
    effect varchar,                   -- read, write, irreversible; null is "not stated"
    server varchar,                   -- the MCP server, where known
    first_at timestamp,               -- UTC, first seen
    last_at timestamp                 -- UTC, last seen
);

create table feedback (
    feedback_uid uuid not null,       -- md5 of tenant, key space and key
    tenant varchar not null,          -- "default" where none was given
    key_space varchar not null,       -- of the feedback's own id
    key varchar not null,             -- the feedback's own id
    target_level varchar not null,    -- call, turn, conversation
    call_uid uuid,                    -- of the call; it may not be here yet
    conversation_uid uuid,            -- of the conversation, where known
    turn integer,                     -- 0-based, for a turn's label
    name varchar,                     -- of the score or annotation
    label varchar,                    -- one of the five, or null
    label_raw varchar,                -- as it came
    score varchar,                    -- JSON text of a value that is not a label
    author_kind varchar not null,     -- HUMAN, LLM, CODE
    author varchar,                   -- as given
    note varchar,                     -- as given
    created_at timestamp,             -- UTC
    guide_version varchar,            -- of the labelling guide
    expected_tool varchar,            -- the tool that the reviewer named
    expected_arguments varchar,       -- JSON text
    adjudication boolean not null,    -- settles a dispute
    in_sight boolean not null,        -- given by somebody who saw what others say of it
    source varchar,                   -- of the call, as the export named it
    tool_name varchar,                -- of the call, as the export named it
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table regression_cases (
    case_uid uuid not null,           -- md5 of tenant and id
    tenant varchar not null,          -- "default" where none was given
    key varchar not null,             -- the record's id
    record varchar not null,          -- the whole record, JSON text as it came
    tool_name varchar not null,       -- as given
    label varchar not null,           -- wrong_tool, missing_tool, bad_args
    title varchar not null,           -- as given
    status varchar not null,          -- active, archived
    proposal_id varchar,              -- upstream's
    call_uid uuid,                    -- of the call it was made from
    journal_line varchar,             -- id of the journal line that says so; null for an export's case
    created_at timestamp,             -- UTC
    updated_at timestamp,             -- UTC; the newest stands
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table proposals (
    proposal_uid uuid not null,       -- md5 of tenant and id
    tenant varchar not null,          -- "default" where none was given
    key varchar not null,             -- the record's id
    record varchar not null,          -- the whole record, JSON text as it came
    fingerprint varchar not null,     -- kind:source:tool:label
    tool_name varchar not null,       -- as given
    source varchar not null,          -- as given
    label varchar not null,           -- as given
    status varchar,                   -- pending, applied, dismissed; null for a preview
    created_at timestamp,             -- UTC
    updated_at timestamp,             -- UTC; the newest stands
    decided_at timestamp,             -- UTC
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table decisions (
    key varchar not null,             -- of the journal line that says so
    tenant varchar not null,          -- whose proposal it is
    fingerprint varchar not null,     -- of the proposal: kind:source:tool:label
    action varchar not null,          -- accept, apply, dismiss, close, reopen
    kind varchar,                     -- of the resolution: regression_case, pull_request …
    ref varchar,                      -- of the resolution: REG-41, PR-123 …
    url varchar,                      -- of the resolution
    note varchar,                     -- why
    owner varchar,                    -- who does it
    due varchar,                      -- the day by which it is done
    expectation varchar,              -- what is to come of it, in words
    effective_at timestamp,           -- UTC, from when on it holds; null is when it was decided
    decided_at timestamp,             -- UTC
    author varchar,                   -- who decided
    seen varchar,                     -- key of the decision that stood then
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table queues (
    key varchar not null,             -- of the journal line that says so
    tenant varchar not null,          -- whose calls, where all are of one; else that of the load
    strategy varchar not null,        -- mixed, errors, random, rare, disputed
    seed bigint not null,             -- of the draw
    size bigint not null,             -- calls asked for
    overlap double not null,          -- share of them that two people review
    reviewers varchar[] not null,     -- who is asked
    filters varchar not null,         -- JSON text: the filters that picked the frame, times in UTC
    strata varchar not null,          -- JSON text: stratum, calls, drawn
    frame varchar not null,           -- JSON text: tool_name, stratum, calls when it was drawn
    drawn_at timestamp,               -- UTC
    author varchar,                   -- who drew it
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table queue_calls (
    key varchar not null,             -- of the journal line that says so
    tenant varchar not null,          -- whose call it is
    queue varchar not null,           -- key of its queue
    call_uid uuid not null,           -- of the call; it may not be here
    tool_name varchar not null,       -- of the call when it was drawn
    stratum varchar not null,         -- that it was drawn from
    probability double not null,      -- of having been drawn, 0 to 1
    position integer not null,        -- 1-based, in the order of review
    reviewers varchar[] not null,     -- who is asked
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table retractions (
    key varchar not null,             -- of the journal line that retracts
    retracts varchar not null,        -- id of the journal line that is taken back, or quality_lab/TENANT/ID:
                                      -- upstream's copy of a label that was pushed, or
                                      -- quality_lab/TENANT/decision/LINE: of a decision, with the line that notes it
    author varchar,                   -- as given
    created_at timestamp,             -- UTC
    source_id bigint not null,        -- origin file
    line bigint not null              -- origin line, 1-based
);

create table rejects (
    source_id bigint not null,        -- origin file
    line bigint not null,             -- 1-based
    path varchar not null,            -- dotted path of the field; "" is the whole line
    reason varchar not null,          -- what was wanted and what came
    text varchar not null             -- the line as it came (bytes that are not UTF-8 as \xNN)
);

create table versions (
    kind varchar not null,            -- name of the table whose row it is
    uid uuid not null,                -- of that row
    content varchar not null,         -- the version, JSON text
    conflicting boolean not null,     -- it stands against another version of the same row; neither counts
    source_id bigint not null,        -- origin file: the least of those that brought this version
    line bigint not null              -- origin line, 1-based
);
