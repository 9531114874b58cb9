-- What a cloud's nodes ran on, and for how long.

create table "instance" (
  "cluster_key" int not null,
  "seq" bigint not null,
  "item" int not null,
  "cluster" varchar(250) not null,
  "node" varchar(250) not null,
  "start_time" bigint not null,
  "end_time" bigint not null,
  "instance_id" varchar not null,
  "instance_type" varchar not null,
  "extra" varchar not null,
  primary key ("cluster_key", "seq", "item")
);
