-- Events that failed too often are parked instead of retried for ever.

alter table outbox add column parked_at timestamptz;

drop index outbox_due;
create index outbox_due on outbox (next_try) where delivered_at is null and parked_at is null;
