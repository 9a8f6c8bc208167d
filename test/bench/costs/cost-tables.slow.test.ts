import { readFileSync } from 'node:fs'
import { expect, inject, it } from 'vitest'
import { costTables } from '../../../bench/costs/cost-tables.ts'

const page = readFileSync(new URL('../../../docs/costs.md', import.meta.url), 'utf8')

it('docs/costs.md has the tables that `npm run costs` prints', async () => {
  for (const table of await costTables(inject('dynamodb'))) expect(page).toContain(table)
})
