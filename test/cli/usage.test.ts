import { CommanderError } from 'commander'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../../cli/program.ts'
import { newCli } from './cli.ts'

const cli = newCli()
beforeAll(() => void vi.stubEnv('DATA_DIR', cli.dataDir))
afterAll(cli.remove)

/** Parses in this process: what is printed, and the error that ends it. */
async function parse(args: string[]) {
  let printed = ''
  const print = (text: string) => {
    printed += text
  }
  const program = createProgram({ writeErr: print, writeOut: print })
  const error = await program.parseAsync(args, { from: 'user' }).catch((caught: unknown) => caught)
  return { printed, error }
}

describe('wrong usage', () => {
  it.each<[string, string]>([
    ['publsh x', "unknown command 'publsh'\n(Did you mean publish?)"],
    ['publish x --drft', "unknown option '--drft'\n(Did you mean --draft?)"],
    ['publish x --jsn', "unknown option '--jsn'\n(Did you mean --json?)"],
    ['tokens creat', "unknown command 'creat'\n(Did you mean create?)"],
    ['publish', "missing required argument 'folder'"],
    ['run foo', "required option '--input <file>' not specified"],
    ['run foo --input - --version 3', 'It must be a UUID.'],
    ['run foo --input - --tenant=', 'It must have 1 to 128 characters'],
    ['list x', "too many arguments for 'list'"],
    ['list --org x', 'It must be a UUID.'],
    ['tokens create', "required option '--name <text>' not specified"],
    ['tokens create --name=', 'It must have 1 to 100 characters'],
    ['tokens revoke x', 'It must be a UUID.'],
    ['orgs create', "option '--name <text>' is missing"],
    ['orgs create a --name b', 'the name is given twice'],
    ...['0', '3651', '1.5', '-1', '1e2', 'x', ''].map((days): [string, string] => [
      `tokens create --name a --expires=${days}`,
      'It must be a whole number of days from 1 to 3650.',
    ]),
  ])('"%s" is refused', async (line, says) => {
    const { printed, error } = await parse(line.split(' '))
    expect(error).toBeInstanceOf(CommanderError)
    expect(printed).toContain(says)
  })

  it('ends with exit code 2, in words on stderr', async () => {
    const { code, stdout, stderr } = await cli.run(['publsh'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe(
      "error: unknown command 'publsh'\n(Did you mean publish?)\nAdd --help to see an example.\n",
    )
  })

  it('is one JSON document with --json', async () => {
    expect(await cli.json(['publish', '--drft'], { code: 2 })).toEqual({
      error: { message: "unknown option '--drft'\n(Did you mean --draft?)" },
    })
    expect(await cli.json([], { code: 2 })).toEqual({
      error: { message: 'A command is missing; --help lists them.' },
    })
  })
})

describe('--help', () => {
  it.each(
    ['publish', 'list', 'show', 'versions', 'run', 'orgs create', 'orgs list'].concat(
      ['create', 'list', 'revoke'].map((verb) => `tokens ${verb}`),
    ),
  )('of %s shows an example', async (command) => {
    const { printed } = await parse([...command.split(' '), '--help'])
    expect(printed).toMatch(new RegExp(`Examples?:\\n  npm run agents -- ${command}`))
    expect(printed).toContain('--json')
  })

  it('is no error', async () => {
    const { code, stdout, stderr } = await cli.run(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Usage: npm run agents -- [options] [command]')
  })
})
