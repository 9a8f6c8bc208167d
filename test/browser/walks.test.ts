import { expect, it } from 'vitest'
import { newDemo } from './demo/new-demo.ts'
import { useBrowser } from './support/browser.ts'
import { take, WALKS } from './support/walks.ts'

const { openPage } = useBrowser()
const demo = await newDemo()

/** By night, all of them. */
it.each(WALKS.filter(({ isDaily }) => isDaily))('takes at most $clicks clicks: $name', async (walk) => {
  expect(await take(walk, demo, openPage)).toBeLessThanOrEqual(walk.clicks)
})
