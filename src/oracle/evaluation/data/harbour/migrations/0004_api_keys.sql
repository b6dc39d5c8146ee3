-- Keys were in clear until 4.2.0. Old ones are hashed by `scripts/hash_keys` once, then the column goes.

create table api_keys (
    id          bigserial primary key,
    digest      text not null unique,
    role        text not null check (role in ('agent', 'office', 'master', 'board')),
    agent       text,
    created_at  timestamptz not null default now(),
    revoked_at  timestamptz
);

create view live_keys as
    select id, digest, role, agent from api_keys where revoked_at is null;
