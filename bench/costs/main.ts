/**
 * `npm run costs`: what AWS charges for runs, beyond the model and the agent's own time. With `--write`, also replaces
 * the tables of docs/costs.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { startDynamoDB } from '../../test/support/service/port-emulators.ts'
import { costTables } from './cost-tables.ts'

const DOCUMENT = new URL('../../docs/costs.md', import.meta.url)

const emulator = await startDynamoDB(null)
const tables = await costTables(emulator.endpoint).finally(emulator.stop)
console.log(tables.join('\n\n'))
if (process.argv.includes('--write')) {
  const text = readFileSync(DOCUMENT, 'utf8')
  writeFileSync(DOCUMENT, tables.reduce(replaceTable, text))
}

/** Replaces the table with the same first cell. */
function replaceTable(text: string, table: string): string {
  const firstCell = table.slice(0, table.indexOf('|', 1)).trimEnd()
  const start = text.indexOf(`\n${firstCell} `) + 1
  if (start === 0) throw new Error(`docs/costs.md has no table that begins with "${firstCell}".`)
  return text.slice(0, start) + table + text.slice(text.indexOf('\n\n', start))
}
