import { PAYLOAD_SIZES } from '../keys/payloads.ts'
import { markdownTable } from '../report.ts'
import { deliveryRows } from './deliveries.ts'
import { exampleRows, fixedRows } from './examples.ts'
import { instanceRows } from './instances.ts'
import { readingRows } from './reading.ts'
import { runRows, unitRows } from './runs.ts'
import { waitRows } from './waits.ts'

/**
 * The tables of docs/costs.md, as Markdown.
 * @param dynamodb endpoint of an emulator, which counts the units of deliveries
 */
export async function costTables(dynamodb: string): Promise<string[]> {
  const rows = [
    await runRows(PAYLOAD_SIZES),
    await unitRows(PAYLOAD_SIZES),
    await instanceRows(),
    await exampleRows(),
    fixedRows(),
    await readingRows(),
    await deliveryRows(dynamodb),
    await waitRows(),
  ]
  return rows.map(markdownTable)
}
