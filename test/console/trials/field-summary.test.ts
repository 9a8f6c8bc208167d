import { expect, it } from 'vitest'
import { summarizeFields } from '../../../console/trials/field-summary.tsx'
import type { TrialItemRecord } from '../../../lib/contract/records/trial-item.ts'

const itemOf = (...paths: string[]) =>
  ({
    differences: paths.map((path, index) => ({ path, original: index, trial: index + 1 })),
  }) as TrialItemRecord

it('summarizeFields counts the runs in which a field differs, once for all items of a list', () => {
  const items = [
    itemOf('/refund', '/items/0/sku', '/items/10/sku', ''),
    itemOf('/refund'),
    itemOf('/items/2/sku', '/2nd'),
    itemOf(),
  ]
  expect(summarizeFields(items).map(({ path, runs }) => [path, runs])).toEqual([
    ['/refund', 2],
    ['/items/…/sku', 2],
    ['', 1],
    ['/2nd', 1],
  ])
  expect(summarizeFields(items)[0]?.example).toEqual({ path: '/refund', original: 0, trial: 1 })
})
