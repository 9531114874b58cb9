-- One database serves several clusters, and a cluster several journals (slurmctld -c begins a new one, with the same numbers of
-- jobs): "cluster_key" is the projection's id. "key" of an entity is unique within its kind; the body is its record.

alter table "projection" add column "cluster" varchar(190) default '' not null;
alter table "job" add column "cluster_key" int default 1 not null;
alter table "job" drop primary key;
alter table "job" add primary key ("cluster_key", "sluid", "restarts");
alter table "step" add column "cluster_key" int default 1 not null;
alter table "step" drop primary key;
alter table "step" add primary key ("cluster_key", "sluid", "restarts", "step_id");

create table "entity" (
  "kind" varchar(20) not null,
  "entity_key" varchar(190) not null,
  "body" varchar not null,
  primary key ("kind", "entity_key")
);
create table "txn" (
  "id" bigint not null primary key,
  "time" bigint not null,
  "action" varchar(40) not null,
  "actor" varchar(190) not null,
  "cluster" varchar(190) not null,
  "name" varchar not null,
  "info" varchar not null
);
create table "node_event" (
  "cluster_key" int not null,
  "seq" bigint not null,
  "item" int not null,
  "cluster" varchar(190) not null,
  "node" varchar(190) not null,
  "start_time" bigint not null,
  "end_time" bigint not null,
  "state" varchar(190) not null,
  "reason" varchar not null,
  "reason_user" varchar(190) not null,
  "tres" varchar not null,
  "cluster_nodes" varchar not null,
  primary key ("cluster_key", "seq", "item")
);
create index "event_by_node" on "node_event" ("cluster", "node", "end_time");
