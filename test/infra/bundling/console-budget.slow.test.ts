import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildConsole } from '../../../lib/console-server/build-console.ts'
import { type ConsoleFile, openConsoleFiles, PAGE } from '../../../lib/console-server/console-files.ts'

const MAX_SCRIPT_BYTES = 60_000
const MAX_FIRST_VIEW_BYTES = 100_000
/** Of a page that loads its own: that of schedules computes their times. */
const MAX_PAGE_SCRIPT_BYTES = 17_000

const folder = mkdtempSync(join(tmpdir(), 'aes-console-'))
let files: Map<string, ConsoleFile>

beforeAll(async () => {
  await buildConsole(folder, { quality: 11 })
  files = openConsoleFiles(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0)
const sizeOf = (name: string) => files.get(name)?.compressed.gzip.length ?? Number.NaN

/** What the page names is loaded at first. */
const firstView = () => {
  const page = readFileSync(join(folder, PAGE), 'utf8')
  return [...page.matchAll(/"console\/([\w.-]+)"/g)].map(([, name = '']) => basename(name))
}
const isScript = (name: string) => name.endsWith('.js')

describe('the console', () => {
  it('loads one script at first, of at most 60 kB, compressed with gzip', () => {
    const scripts = firstView().filter(isScript)
    expect(scripts.length).toBe(1)
    expect(sum(scripts.map(sizeOf))).toBeLessThanOrEqual(MAX_SCRIPT_BYTES)
  })

  it('loads at most 100 kB at first', () => {
    expect(firstView().length).toBeGreaterThan(1)
    expect(sum([PAGE, ...firstView()].map(sizeOf))).toBeLessThanOrEqual(MAX_FIRST_VIEW_BYTES)
  })

  it('loads at most 17 kB of script for another page', () => {
    const scripts = [...files.keys()].filter((name) => isScript(name) && !firstView().includes(name))
    expect(scripts.length).toBeGreaterThan(0)
    for (const name of scripts) expect(sizeOf(name)).toBeLessThanOrEqual(MAX_PAGE_SCRIPT_BYTES)
  })
})
