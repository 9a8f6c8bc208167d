import { PAYLOAD_SIZES } from '../keys/payloads.ts'
import { markdownTable } from '../report.ts'
import { batchRows } from './batches.ts'
import { exampleRows, fixedRows } from './examples.ts'
import { readingRows } from './reading.ts'
import { runRows } from './runs.ts'
import { waitRows } from './waits.ts'

/** The tables of docs/costs.md, as Markdown. */
export async function costTables(): Promise<string[]> {
  const rows = [
    ...(await Promise.all(PAYLOAD_SIZES.map(runRows))),
    await batchRows(),
    await readingRows(),
    await waitRows(),
    await exampleRows(),
    fixedRows(),
  ]
  return rows.map(markdownTable)
}
