import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { badFolders } from './bad-documents.ts'
import { inFolder, newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

describe('publish of a folder that is wrong', () => {
  it.each(badFolders)('names file, line and field: $name', async ({ name, folder = 'foo', files, says }) => {
    const place = name.replaceAll(/\W+/g, '-')
    cli.write(inFolder(`${place}/${folder}`, files as Record<string, string>))
    cli.write({ [`${place}/.keep`]: '' })
    const { code, stdout, stderr } = await cli.run(['publish', folder], { cwd: `${cli.folder}/${place}` })
    const lines = stderr.trimEnd().split('\n')
    expect(lines.slice(0, -1)).toEqual(says)
    expect(lines.at(-1)).toMatch(/^Nothing was published: (one problem|\d+ problems)\.$/)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  it('opens no store', () => expect(existsSync(cli.dataDir)).toBe(false))

  it('says it as one JSON document', async () => {
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
      error: { message: 'Nothing was published: one problem.', problems: [problem] },
    })
  })
})

describe('wrong usage', () => {
  const uuid = '0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11'
  const usages: [string[], string][] = [
    [['publsh', 'x'], "unknown command 'publsh'\n(Did you mean publish?)"],
    [['publish', 'x', '--drft'], "unknown option '--drft'\n(Did you mean --draft?)"],
    [['tokens', 'creat'], "unknown command 'creat'\n(Did you mean create?)"],
    [['publish'], "missing required argument 'folder'"],
    [['run', 'foo'], "required option '--input <file>' not specified"],
    [['run', 'foo', '--input', '-', '--version', '3'], 'It must be a UUID.'],
    [['run', 'foo', '--input', '-', '--tenant', ''], 'It must have 1 to 128 characters'],
    [['list', 'x'], "too many arguments for 'list'"],
    [['list', '--org', 'x'], 'It must be a UUID.'],
    [['tokens', 'create'], "required option '--name <text>' not specified"],
    [['tokens', 'create', '--name', ' '], 'It must have 1 to 100 characters'],
    [['tokens', 'revoke', 'x'], 'It must be a UUID.'],
    [['orgs', 'create'], "option '--name <text>' is missing"],
    [['orgs', 'create', 'a', '--name', 'b'], 'the name is given twice'],
    ...['0', '3651', '1.5', '-1', '1e2', 'x', ''].map((days): [string[], string] => [
      ['tokens', 'create', '--name', 'a', '--org', uuid, `--expires=${days}`],
      'It must be a whole number of days from 1 to 3650.',
    ]),
  ]

  it.each(usages)('%j is refused with exit code 2', async (args, says) => {
    const { code, stdout, stderr } = await cli.run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(says)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  it('is one JSON document with --json', async () => {
    const { error } = await cli.json(['list', 'x'], { code: 2 })
    expect(error.message).toMatch(/^too many arguments/)
    expect(await cli.json([], { code: 2 })).toEqual({
      error: { message: 'A command is missing; --help lists them.' },
    })
  })
})

describe('--help', () => {
  const commands = [
    'publish',
    'list',
    'show',
    'versions',
    'run',
    'tokens create',
    'tokens list',
    'tokens revoke',
    'orgs create',
    'orgs list',
  ]

  it.each(commands)('of %s shows an example', async (command) => {
    const { code, stdout } = await cli.run([...command.split(' '), '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`Examples?:\\n  npm run agents -- ${command}`))
  })
})

describe('input of a run that cannot be used', () => {
  beforeAll(() =>
    cli.write({
      'list.json': '[]',
      'cut.json': '{"a": ',
      'latin.json': Buffer.from('{"a":"\xe9"}', 'latin1'),
    }),
  )

  it.each([
    ['nowhere.json', 'nowhere.json: there is no such file.'],
    ['.', '.: cannot be read: EISDIR: illegal operation on a directory, read'],
    ['list.json', 'list.json: must hold a JSON object with the input fields.'],
    ['cut.json', 'cut.json: is not JSON: Unexpected end of JSON input'],
    ['latin.json', 'latin.json: is not UTF-8 text.'],
  ])('%s is refused before the store is opened', async (file, says) => {
    expect(await cli.run(['run', 'foo', '--input', file])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${says}\n`,
    })
    expect(existsSync(cli.dataDir)).toBe(false)
  })

  it.each([
    ['', 'standard input: is not JSON: it is empty'],
    ['null', 'standard input: must hold a JSON object with the input fields.'],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'standard input: nests deeper than 100 levels.'],
    [`{"a":"${'x'.repeat(6_000_000)}"}`, 'standard input: is larger than 6000000 bytes.'],
  ])('standard input %#.8s is refused', async (stdin, says) => {
    const error = { message: says }
    expect(await cli.json(['run', 'foo', '--input', '-'], { stdin, code: 1 })).toEqual({ error })
  })
})
