-- What the meters of a step's nodes said.

alter table "step" add column "usage_energy_j" bigint default 0 not null;
alter table "step" add column "usage_net_in_bytes" bigint default 0 not null;
alter table "step" add column "usage_net_out_bytes" bigint default 0 not null;
