-- Scripts and environments of batch jobs (AccountingStoreFlags), each content once for a journal, by its hash; base64.

create table "job_text" (
  "cluster_key" int not null,
  "sluid" bigint not null,
  "script_hash" varchar(64) not null,
  "environment_hash" varchar(64) not null,
  primary key ("cluster_key", "sluid")
);
create table "text_content" (
  "cluster_key" int not null,
  "hash" varchar(64) not null,
  "content" longtext not null,
  primary key ("cluster_key", "hash")
);
