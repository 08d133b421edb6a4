#pragma once
#include <sqlite3.h>
#include <stddef.h>

// What Swift can't call itself: functions with a variable number of arguments, and macros that are casts.

// Makes "word" the name of a column, never a text. Otherwise a misspelled name is a text without an error.
static inline int csqlite_refuse_quoted_texts(sqlite3 *database) {
  int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
  if (code != SQLITE_OK) return code;
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

// Both copy the bytes. An empty value may have a null pointer here, which SQLite would take for NULL.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
  const char *text = bytes ? (const char *)bytes : "";
  return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
  if (!bytes || count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
