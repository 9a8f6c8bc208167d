import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openLocalConsole } from '../../../local/gateway/local-console.ts'

const temporary = mkdtempSync(join(tmpdir(), 'aes-local-console-'))
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

let folders = 0

/** Sources, and a data folder of its own. */
function newService() {
  const root = join(temporary, String(folders++))
  const folder = join(root, 'data')
  for (const name of ['console', 'docs/console', 'lib']) mkdirSync(join(root, name), { recursive: true })
  const write = (name: string, content: string) => writeFileSync(join(root, name), content)
  write('console/main.tsx', '1')
  write('docs/console.md', 'A page.')
  let builds = 0
  const build = async (to: string) => {
    builds += 1
    mkdirSync(to)
    writeFileSync(join(to, 'index.html'), '<!doctype html>')
    writeFileSync(join(to, 'main.js'), `build ${builds}`)
  }
  const open = (options = {}) => openLocalConsole(folder, { root, build, ...options })
  return { root, folder, write, build, open, countBuilds: () => builds }
}

const read = (files: string) => readFileSync(join(files, 'main.js'), 'utf8')

describe('openLocalConsole', () => {
  it('builds once, for all starts with the same sources', async () => {
    const { open, write, folder, countBuilds } = newService()
    const files = await open()
    write('console/main.tsx', '1')
    expect(await open()).toBe(files)
    expect(countBuilds()).toBe(1)
    expect(readdirSync(files).sort()).toEqual(['index.html', 'main.js'])
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it.each([
    ['a script has changed', 'console/main.tsx', '2'],
    ['a module that scripts import has changed', 'lib/format.ts', '2'],
    ['a page of the documentation is new', 'docs/batches.md', 'A page.'],
    ['packages have changed', 'package-lock.json', '{}'],
  ])('builds again when %s', async (_, name, content) => {
    const { open, write, countBuilds } = newService()
    const files = await open()
    write(name, content)
    const changed = await open()
    expect(changed).not.toBe(files)
    expect(read(changed)).toBe('build 2')
    expect(await open()).toBe(changed)
    expect(countBuilds()).toBe(2)
  })

  it.each<[string, (files: string) => void]>([
    [
      'a file has other content of the same size',
      (files) => writeFileSync(join(files, 'main.js'), 'BUILD 1'),
    ],
    ['a file is missing', (files) => rmSync(join(files, 'main.js'))],
    ['all files are missing', (files) => rmSync(files, { recursive: true })],
    ['the hash is missing', (files) => rmSync(join(files, '../hash'))],
    [
      'it is a file',
      (files) => {
        rmSync(dirname(files), { recursive: true })
        writeFileSync(dirname(files), '')
      },
    ],
  ])('builds again when what was kept is damaged: %s', async (_, damage) => {
    const { open, folder } = newService()
    const files = await open()
    damage(files)
    expect(await open()).toBe(files)
    expect(read(files)).toBe('build 2')
    expect(readdirSync(files).sort()).toEqual(['index.html', 'main.js'])
    expect(readdirSync(folder)).toEqual([basename(dirname(files))])
  })

  it('a build that fails leaves nothing, and the next request builds again', async () => {
    const { open, folder, write } = newService()
    const fail = async (to: string) => {
      mkdirSync(to)
      throw new Error('out of space')
    }
    await expect(open({ build: fail })).rejects.toThrow('out of space')
    expect(readdirSync(folder)).toEqual([])
    expect(read(await open())).toBe('build 1')
    // What a killed build has left behind is removed once it is old.
    const killed = join(folder, 'killed')
    mkdirSync(killed)
    utimesSync(killed, 0, 0)
    write('console/main.tsx', '2')
    await open()
    expect(readdirSync(folder)).not.toContain('killed')
  })

  it('keeps the builds that were used last, and nothing else', async () => {
    const { open, write, folder } = newService()
    mkdirSync(folder)
    writeFileSync(join(folder, 'main-ABCDEFGH.js'), 'of an older release')
    const used: string[] = []
    for (const source of ['1', '2', '3', '1', '4']) {
      write('console/main.tsx', source)
      const files = await open()
      used.push(files)
      // The order in which they are used, on file systems with seconds only.
      const at = new Date(Date.now() - 60_000 + used.length * 2_000)
      utimesSync(dirname(files), at, at)
    }
    const [first = '', second = '', third = '', , fourth = ''] = used
    expect([first, second, third, fourth].map((files) => existsSync(files))).toEqual([
      true,
      false,
      true,
      true,
    ])
    expect(readdirSync(folder)).toHaveLength(3)
  })
})
