/** Measures and computes what runs cost on AWS, and writes `docs/costs.md`; with `--quick` from the last measurement. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resourcesOf, synthesize } from '../../test/infra/synthesize.ts'
import { costsDocument } from './document.ts'
import { measureRuns } from './measure.ts'
import type { Measured } from './usage.ts'

const MEASURED = new URL('measured.json', import.meta.url)
const DOCUMENT = new URL('../../docs/costs.md', import.meta.url)

const isQuick = process.argv.includes('--quick')
if (!isQuick) {
  const measured = await measureRuns((line) => console.error(line))
  writeFileSync(MEASURED, `${JSON.stringify(measured, null, 2)}\n`)
}
const measured = JSON.parse(readFileSync(MEASURED, 'utf8')) as Measured
const alarms = Object.keys(resourcesOf(synthesize(), 'AWS::CloudWatch::Alarm')).length
writeFileSync(DOCUMENT, costsDocument(measured, alarms))
console.log('docs/costs.md is written.')
