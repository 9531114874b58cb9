-- The bundle that a step ran in.

alter table "step" add column "container" varchar(4000) default '' not null;
