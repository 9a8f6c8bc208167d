import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { UserError } from '../../cli/errors.ts'
import { createProgram } from '../../cli/program.ts'
import { badFolders } from './bad-documents.ts'
import { cliOfFile, inFolder } from './cli.ts'

const cli = cliOfFile()
beforeAll(() => void vi.stubEnv('DATA_DIR', cli.dataDir))

describe('publish of an invalid folder', () => {
  // In this process, because starting one per folder takes most of the time.
  it.concurrent.each(badFolders)(
    'names file, line and field: $name',
    async ({ name, folder = 'foo', files, expected }) => {
      const parent = name.replaceAll(/\W+/g, '-')
      cli.write(inFolder(`${parent}/${folder}`, files as Record<string, string>))
      cli.write({ [`${parent}/.keep`]: '' })
      const path = join(cli.folder, parent)
      const program = await createProgram({})
      const publishing = program.parseAsync(['publish', join(path, folder)], { from: 'user' })
      const { lines, message } = (await publishing.catch((error: unknown) => error)) as UserError
      const prefix = `${relative('', path)}/`
      expect(lines).toEqual(expected.map((problem) => `${prefix}${problem}`))
      expect(message).toBe(
        `Publish failed: ${expected.length === 1 ? '1 problem' : `${expected.length} problems`}.`,
      )
    },
  )

  it('prints the problems to stderr', async () => {
    cli.write({ 'text/agent.md': '# Text\n' })
    const { code, stdout, stderr } = await cli.run(['publish', 'text'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^text\/agent\.md:1:1: front matter: .+\nPublish failed: 1 problem\.\n$/)
  })

  it('does not open the store', () => expect(existsSync(cli.dataDir)).toBe(false))
})

describe('run with invalid input', () => {
  beforeAll(() =>
    cli.write({
      'list.json': '[]',
      'cut.json': '{"a": ',
      'twice.json': '{"a":1,"a":2}',
      'latin.json': Buffer.from('{"a":"\xe9"}', 'latin1'),
    }),
  )

  it.each([
    ['nowhere.json', 'nowhere.json does not exist.'],
    ['list.json', 'list.json must contain a JSON object with the input fields.'],
    ['cut.json', 'cut.json is not valid JSON: Unexpected end of JSON input.'],
    ['latin.json', 'latin.json is not valid UTF-8.'],
    ['twice.json', 'twice.json contains the key "a" more than once, at /a.'],
  ])('rejects %s before it opens the store', async (file, message) => {
    expect(await cli.run(['run', 'foo', '--input', file])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${message}\n`,
    })
    expect(existsSync(cli.dataDir)).toBe(false)
  })

  it.each([
    ['', 'standard input is empty.'],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'standard input is nested more than 100 levels deep.'],
    [`{"a":"${'x'.repeat(6_000_000)}"}`, 'standard input exceeds the maximum size of 6000000 bytes.'],
  ])('rejects standard input %#.8s', async (stdin, message) => {
    expect(await cli.json(['run', 'foo', '--input', '-'], { stdin, code: 1 })).toEqual({ error: { message } })
  })
})
