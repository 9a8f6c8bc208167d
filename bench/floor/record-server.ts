import { DatabaseSync } from 'node:sqlite'
import { v7 } from 'uuid'
import { answerPosts } from './answer-posts.ts'

/**
 * The record floor: the least that a run which is kept at all can cost, SQLite in the server's own process. One write
 * at the start, one at the end. Argument: the database's file.
 */
const database = new DatabaseSync(process.argv[2] ?? '')
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
database.exec(
  'CREATE TABLE runs (id TEXT PRIMARY KEY, status TEXT, input TEXT, output TEXT, createdAt TEXT, finishedAt TEXT)',
)
const begin = database.prepare(
  `INSERT INTO runs (id, status, input, createdAt) VALUES (?, 'IN_PROGRESS', ?, ?)`,
)
const finish = database.prepare(`UPDATE runs SET status = 'SUCCESS', output = ?, finishedAt = ? WHERE id = ?`)

answerPosts((input) => {
  const id = v7()
  const text = JSON.stringify(input)
  begin.run(id, text, new Date().toISOString())
  finish.run(text, new Date().toISOString(), id)
  return input
})
