import { expect, it } from 'vitest'
import { newDemo } from '../../browser/demo/new-demo.ts'
import { useBrowser } from '../../browser/support/browser.ts'
import { take, WALKS } from '../../browser/support/walks.ts'

const { openPage } = useBrowser()
const demo = await newDemo()

it('has all sixteen tasks', () => {
  expect(WALKS).toHaveLength(16)
})

it.each(WALKS)('takes at most $clicks clicks: $name', async (walk) => {
  expect(await take(walk, demo, openPage)).toBeLessThanOrEqual(walk.clicks)
})
