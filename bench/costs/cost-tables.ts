import { PAYLOAD_SIZES } from '../keys/payloads.ts'
import { markdownTable } from '../report.ts'
import { batchRows } from './batches.ts'
import { deliveryRows } from './deliveries.ts'
import { exampleRows, fixedRows } from './examples.ts'
import { readingRows } from './reading.ts'
import { resultRows } from './results.ts'
import { runRows } from './runs.ts'
import { waitRows } from './waits.ts'

/**
 * The tables of docs/costs.md, as Markdown.
 * @param dynamodb endpoint of an emulator, which counts the units of deliveries
 */
export async function costTables(dynamodb: string): Promise<string[]> {
  const rows = [
    ...(await Promise.all(PAYLOAD_SIZES.map(runRows))),
    await batchRows(),
    await readingRows(),
    await resultRows(dynamodb),
    await deliveryRows(dynamodb),
    await waitRows(),
    await exampleRows(),
    fixedRows(),
  ]
  return rows.map(markdownTable)
}
