-- Numbers of associations and keys as an archive of another database had them, and reservations as they were over time.

alter table "job" add column "assoc_id" int default 0 not null;
alter table "job" add column "wckey_id" int default 0 not null;
create table "reservation" (
  "cluster_key" int not null,
  "id" int not null,
  "name" varchar(190) not null,
  "start_time" bigint not null,
  "end_time" bigint not null,
  "nodes" varchar not null,
  "flags" varchar(1024) not null,
  "accounts" varchar not null,
  "users" varchar not null,
  "tres" varchar not null,
  primary key ("cluster_key", "name", "start_time")
);
