create table outbox (
    id            bigserial primary key,
    name          text not null,
    at            timestamptz not null,
    payload       jsonb not null,
    attempts      integer not null default 0,
    next_try      timestamptz not null default now(),
    delivered_at  timestamptz,
    last_error    text
);

create index outbox_due on outbox (next_try) where delivered_at is null;
