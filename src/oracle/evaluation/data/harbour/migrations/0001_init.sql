-- Bookings and the vessels they are for.

create table vessels (
    call_sign        text primary key,
    name             text not null,
    kind             text not null,
    length_m         numeric(5, 1) not null,
    draft_m          numeric(4, 1) not null,
    dangerous_goods  boolean not null default false
);

create table bookings (
    id            bigserial primary key,
    call_sign     text not null references vessels,
    berth         text,
    arrives       timestamptz not null,
    departs       timestamptz not null,
    state         text not null default 'requested',
    pencilled_at  timestamptz,
    version       integer not null default 1,
    check (departs > arrives)
);

create index bookings_by_time on bookings (arrives, departs);
create index bookings_by_state on bookings (state);
