import { readFileSync, writeFileSync } from 'node:fs'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Json } from '../../lib/core/json/json.ts'
import { parseStoredJson } from '../../lib/core/json/parse-json.ts'
import type { Template } from './check-upgrade.ts'
import type { Manifest } from './create-data.ts'

export type StoredItem = Record<string, AttributeValue>

/** What the stores returned when the table was exported. Numbers keep their digits. */
export type Records = { [name: string]: Json }

/**
 * The baseline: of the template of the last release what an update must keep, an export of a table that it wrote, and
 * what it read from that table.
 */
export type Baseline = { template: Template; items: StoredItem[]; manifest: Manifest; records: Records }

const file = (name: string) => new URL(`../fixtures/baseline/${name}`, import.meta.url)
const read = (name: string) => readFileSync(file(name), 'utf8')
const toJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

export function readBaseline(): Baseline {
  return {
    template: JSON.parse(read('template.json')),
    items: read('table.jsonl').trim().split('\n').map(fromLine),
    manifest: JSON.parse(read('manifest.json')),
    records: parseStoredJson(read('records.json')) as Records,
  }
}

export function writeBaseline({
  template,
  items,
  manifest,
  records,
}: Omit<Baseline, 'records'> & { records: object }): void {
  writeFileSync(file('template.json'), `${JSON.stringify(template, null, 1)}\n`)
  writeFileSync(file('table.jsonl'), items.map(toLine).sort().join(''))
  writeFileSync(file('manifest.json'), toJson(manifest))
  writeFileSync(file('records.json'), toJson(records))
}

/**
 * A line of an export to S3: the item in DynamoDB JSON, where binary values are base64.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
 */
export function toLine({ pk, sk, ...item }: StoredItem): string {
  const text = JSON.stringify({ Item: { pk, sk, ...item } }, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )
  return `${text}\n`
}

export function fromLine(line: string): StoredItem {
  const { Item } = JSON.parse(line, (key, value) =>
    key === 'B' && typeof value === 'string' ? Buffer.from(value, 'base64') : value,
  )
  return Item
}
