import { CommanderError } from 'commander'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { assertNoOptionsOfNpm, createProgram } from '../../cli/program.ts'
import { inOptions } from '../../cli/trials/trial-body.ts'
import { cliOfFile } from './cli.ts'

const cli = cliOfFile()
beforeAll(() => void vi.stubEnv('DATA_DIR', cli.dataDir))

/** Parses in this process. Returns the printed text and the error. */
async function parse(args: string[]) {
  let printed = ''
  const print = (text: string) => {
    printed += text
  }
  const program = await createProgram({ writeErr: print, writeOut: print })
  const error = await program.parseAsync(args, { from: 'user' }).catch((caught: unknown) => caught)
  return { printed, error }
}

describe('wrong usage', () => {
  it.each<[string, string]>([
    ['publsh x', "unknown command 'publsh'\n(Did you mean publish?)"],
    ['publish x --drft', "unknown option '--drft'\n(Did you mean --draft?)"],
    ['publish', "missing required argument 'folder'"],
    ['run foo', "required option '--input <file>' not specified"],
    ['run foo --input - --version 3', 'It must be a UUID.'],
    ['run foo --input - --tenant=', 'It must have 1 to 128 characters'],
    ['list x', "too many arguments for 'list'"],
    ['tokens create', "required option '--name <text>' not specified"],
    ['orgs create a --name b', 'name specified both as argument and with --name'],
    ...['0', '3651', '1.5'].map((days): [string, string] => [
      `tokens create --name a --expires=${days}`,
      'It must be a whole number of days from 1 to 3650.',
    ]),
  ])('rejects "%s"', async (line, message) => {
    const { printed, error } = await parse(line.split(' '))
    expect(error).toBeInstanceOf(CommanderError)
    expect(printed).toContain(message)
  })

  it('prints one JSON document with --json', async () => {
    expect(await cli.json(['publish', '--drft'], { code: 2 })).toEqual({
      error: { message: "unknown option '--drft'\n(Did you mean --draft?)" },
    })
    expect(await cli.json([], { code: 2 })).toEqual({
      error: { message: 'No command specified. Use --help to list the commands.' },
    })
  })
})

describe('--help', () => {
  it.each(
    ['publish', 'list', 'show', 'versions', 'run', 'orgs create', 'orgs list'].concat(
      ['create', 'list', 'revoke'].map((verb) => `tokens ${verb}`),
    ),
  )('shows an example for %s', async (command) => {
    const { printed } = await parse([...command.split(' '), '--help'])
    expect(printed).toMatch(new RegExp(`Examples?:\\n  npx agent-execution ${command}`))
    expect(printed).toContain('--json')
  })
})

const program = await createProgram({})
const check = (args: string[], environment: NodeJS.ProcessEnv) => () =>
  assertNoOptionsOfNpm(program, args, environment)

describe('options that npm took because -- was forgotten', () => {
  it.each([
    [['publish', 'agents/shout'], { npm_config_draft: 'true' }, '--draft', 'publish agents/shout --draft'],
    [['publish', 'agents/shout'], { npm_config_test: 'true' }, '--test', 'publish agents/shout --test'],
    [['run', 'shout'], { npm_config_max_cost: 'true' }, '--max-cost', 'run shout --max-cost <dollars>'],
    [['batches', 'results', 'b'], { npm_config_wait: '' }, '--no-wait', 'batches results b --no-wait'],
    [['tokens', 'create'], { npm_config_scopes: 'read' }, '--scopes', 'tokens create --scopes <list>'],
    [['list'], { npm_config_json: 'true' }, '--json', 'list --json'],
  ])('are an error that says what to type: %j', (args, environment, option, command) => {
    const message = `npm took ${option} for itself, and nothing was done. Type: npx agent-execution ${command}`
    expect(check(args, environment)).toThrow(message)
  })

  it.each([
    ['npm sets always', ['run', 'shout'], { npm_config_cache: '/root/.npm', npm_config_yes: 'true' }],
    ['another command has', ['list'], { npm_config_draft: 'true' }],
    ['are given after -- as well', ['publish', 'a', '--draft'], { npm_config_draft: 'true' }],
    ['are given after -- with a value', ['run', 'a', '--max-cost=5'], { npm_config_max_cost: '5' }],
  ])('are no error if %s', (_, args, environment) => {
    expect(check(args, environment)).not.toThrow()
  })
})

describe('inOptions', () => {
  it.each([
    ['/maxTrialCostUsd', '--max-cost', ' is required, because the trial calls models.'],
    ['/tools/refund', '--tools refund', ' must be "recorded": see /etc/tools.'],
    ['/executions/3', '--executions 3', ' is not an execution of the agent.'],
    ['The agent', 'The agent', ' has no executions in this time.'],
  ])('names the option: %s', (member, option, rest) => {
    expect(inOptions(member + rest)).toBe(option + rest)
  })
})
