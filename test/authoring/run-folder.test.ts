import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { greeter, inFolder, newCli } from '../cli/cli.ts'

const cli = newCli()
afterAll(cli.remove)

describe('run with a folder', () => {
  it('runs without publishing, and leaves nothing behind', async () => {
    const other = newCli()
    other.write(inFolder('hello', greeter('Hi')))
    const before = readdirSync(join(other.folder, 'hello'))
    for (const [folder, cwd] of [
      ['./hello', other.folder],
      ['.', join(other.folder, 'hello')],
    ] as const)
      expect(await other.json(['run', folder, '--input', '-'], { cwd, stdin: '{"name":"Ada"}' })).toEqual({
        said: 'Hi Ada',
      })
    expect(readdirSync(join(other.folder, 'hello'))).toEqual(before)
    expect(existsSync(other.dataDir)).toBe(false)
    other.remove()
  })

  it('reports the problems of the folder, and options that need a published agent', async () => {
    cli.write({ 'broken/agent.md': '# Text\n' })
    const { stderr } = await cli.run(['run', './broken', '--input', '-'], { stdin: '{}' })
    expect(stderr).toMatch(/^broken\/agent\.md:1:1: front matter: .+\nRun failed: 1 problem\.\n$/)
    expect((await cli.run(['run', './broken', '--input', '-', '--cache'], { stdin: '{}' })).stderr).toBe(
      '--cache cannot be used with a folder: it runs without being published.\n',
    )
  })
})
