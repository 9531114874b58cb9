-- Which QOS a job asked for.

alter table "job" add column "qos_requested" varchar(1024) default '' not null;
