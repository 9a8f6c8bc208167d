import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { badFolders } from './bad-documents.ts'
import { inFolder, newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

describe('publish of an invalid folder', () => {
  it.concurrent.each(badFolders)(
    'names file, line and field: $name',
    async ({ name, folder = 'foo', files, says: problems }) => {
      const parent = name.replaceAll(/\W+/g, '-')
      cli.write(inFolder(`${parent}/${folder}`, files as Record<string, string>))
      cli.write({ [`${parent}/.keep`]: '' })
      const { code, stdout, stderr } = await cli.run(['publish', folder], { cwd: `${cli.folder}/${parent}` })
      // A slow machine also prints progress.
      const lines = stderr
        .trimEnd()
        .split('\n')
        .filter((line) => !line.endsWith('…'))
      expect(lines.slice(0, -1)).toEqual(problems)
      expect(lines.at(-1)).toMatch(/^Publish failed: (1 problem|\d+ problems)\.$/)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    },
  )

  it('does not open the store', () => expect(existsSync(cli.dataDir)).toBe(false))

  it('prints one JSON document with --json', async () => {
    cli.write({
      'json/agent.md': '---\ncode: true\ninput: {}\noutput: {}\n---\n',
      'json/agent.ts': 'export default 1\n',
    })
    const problem = {
      file: 'json/agent.md',
      line: 2,
      field: 'title',
      message: 'is missing; it must be a text',
    }
    expect(await cli.json(['publish', 'json'], { code: 1 })).toEqual({
      error: { message: 'Publish failed: 1 problem.', problems: [problem] },
    })
  })
})

describe('run with invalid input', () => {
  beforeAll(() =>
    cli.write({
      'list.json': '[]',
      'cut.json': '{"a": ',
      'latin.json': Buffer.from('{"a":"\xe9"}', 'latin1'),
    }),
  )

  it.each([
    ['nowhere.json', 'nowhere.json: file not found.'],
    ['.', '.: cannot read the file: EISDIR: illegal operation on a directory, read'],
    ['list.json', 'list.json: expected a JSON object with the input fields.'],
    ['cut.json', 'cut.json: not valid JSON: Unexpected end of JSON input'],
    ['latin.json', 'latin.json: not valid UTF-8.'],
  ])('rejects %s before it opens the store', async (file, message) => {
    expect(await cli.run(['run', 'foo', '--input', file])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${message}\n`,
    })
    expect(existsSync(cli.dataDir)).toBe(false)
  })

  it.each([
    ['', 'standard input: not valid JSON: the input is empty'],
    ['null', 'standard input: expected a JSON object with the input fields.'],
    [
      `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      'standard input: exceeds the maximum nesting depth of 100 levels.',
    ],
    [`{"a":"${'x'.repeat(6_000_000)}"}`, 'standard input: exceeds the maximum size of 6000000 bytes.'],
  ])('rejects standard input %#.8s', async (stdin, message) => {
    expect(await cli.json(['run', 'foo', '--input', '-'], { stdin, code: 1 })).toEqual({ error: { message } })
  })
})
