import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { childrenOf, isAlive } from '../support/processes/processes.ts'
import { type ReadyProcess, startReadyProcess } from '../support/processes/ready-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const clone = mkdtempSync(join(tmpdir(), 'aes-clone-'))
const packed = mkdtempSync(join(tmpdir(), 'aes-packed-'))

/** That of a new shell: without what npm and this test have set. */
const SHELL = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_.*|INIT_CWD|DATA_DIR|PORT|DYNAMODB_ENDPOINT|POWERTOOLS_LOG_LEVEL)$/i.test(name),
  ),
) as Record<string, string>

let service: ReadyProcess
/** What the user of the shell has exported. */
const variables: Record<string, string> = {}

/** Runs a line of a shell in the clone, without a terminal. */
async function sh(line: string) {
  const child = spawn('bash', ['-c', line], { cwd: clone, env: { ...SHELL, ...variables }, stdio: 'pipe' })
  child.stdin.end()
  const [stdout, stderr, [code]] = await Promise.all([
    readText(child.stdout),
    readText(child.stderr),
    once(child, 'close'),
  ])
  return { code, stdout, stderr }
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(clone, name)), { recursive: true })
  writeFileSync(join(clone, name), text)
}

const DOCUMENT = `---
title: Shout
description: Repeats a text in capital letters.
code: true
input:
  text: { type: string, description: The text. }
output:
  loud: { type: string, description: The text in capital letters. }
---
`

/** The agent of README.md: its files, and the commands of its transcript with their outputs. */
function readAgent(slug: string) {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, section = ''] = /^## Or in code\n(.*?)^## /ms.exec(readme) ?? []
  const [code = '', transcript = ''] = [...section.matchAll(/^```\w+\n(.*?)^```$/gms)].map(
    ([, text]) => text ?? '',
  )
  const steps = [...transcript.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)]
  return {
    write() {
      write(`agents/${slug}/agent.md`, DOCUMENT)
      write(`agents/${slug}/agent.ts`, code)
    },
    steps: steps.map(([, line = '', expected = '']) => ({ line, expected })),
  }
}

/** A text with `…` for what differs from run to run. */
function patternOf(text: string): RegExp {
  const parts = text.trimEnd().split('…')
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[^\w\s"]/g, '\\$&')).join('[\\s\\S]*?')}\n?$`)
}

/** The processes that a process has started, and theirs. */
async function descendantsOf(pid: number): Promise<number[]> {
  const children = await childrenOf(pid, '')
  return [...children, ...(await Promise.all(children.map(descendantsOf))).flat()]
}

const shout = readAgent('shout')
const agents = (command: string) => sh(`npx agent-execution ${command}`)

beforeAll(async () => {
  // The last commit.
  expect(await sh(`git clone -q '${ROOT}' .`)).toMatchObject({ code: 0 })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  service = await startReadyProcess({
    command: 'npm',
    args: ['start'],
    cwd: clone,
    environment: { PORT: '0' },
  })
  variables.URL = `${service.url}/v1`
})
afterAll(async () => {
  await service?.stop()
  for (const folder of [clone, packed]) rmSync(folder, { recursive: true, force: true })
})

/** In this order, as a new user types them. */
describe('in a fresh clone', () => {
  it('options that npm takes for itself are refused, and nothing is published; npx takes none', async () => {
    shout.write()
    const { code, stderr } = await sh('npm run -s agents publish agents/shout --draft')
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('npx agent-execution publish agents/shout --draft'),
    ])
    expect((await agents('show shout')).stderr).toContain('Agent shout not found')
    const { stdout } = await sh('npx agent-execution show shout --json')
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'AgentNotFound' } })
  })

  it('the first agent of README.md is published, and answers', async () => {
    expect(shout.steps).toHaveLength(4)
    for (const { line, expected } of shout.steps) {
      const [, assigned] = /^export (.*)$/.exec(line) ?? []
      if (assigned === undefined) expect((await sh(line)).stdout).toMatch(patternOf(expected))
      else {
        const { stdout } = await sh(`${line.replace(/URL=\S+/, '')}; printf '%s\\n%s' "$JSON" "$AUTH"`)
        const [type = '', authorization = ''] = stdout.split('\n')
        Object.assign(variables, { JSON: type, AUTH: authorization })
      }
    }
  })

  it('dev ends with the npm that has started it', async () => {
    const args = ['run', '-s', 'agents', '--', 'dev', 'agents/shout']
    const npm = spawn('npm', args, { cwd: clone, env: SHELL, stdio: 'pipe' })
    let printed = ''
    npm.stdout.on('data', (chunk) => {
      printed += chunk
    })
    await vi.waitUntil(() => printed.includes('Waiting for changes'))
    const pids = await descendantsOf(npm.pid ?? 0)
    expect(pids.length).toBeGreaterThan(0)
    npm.kill('SIGTERM')
    await vi.waitUntil(() => !pids.some(isAlive))
  })

  it('a path without /v1 is answered with the one that was meant', async () => {
    const { stdout } = await sh(`curl -sS ${service.url}/agents -H "$AUTH"`)
    expect(JSON.parse(stdout).detail).toContain('/v1/agents')
  })

  it('nothing is left but the new agent, and what npm pack generates', async () => {
    expect(
      await sh(`cd clients/typescript && npm pack --silent --pack-destination '${packed}'`),
    ).toMatchObject({
      code: 0,
    })
    const { stdout } = await sh('git status --porcelain --ignored')
    expect(stdout.split('\n').sort()).toEqual([
      '',
      '!! .local/',
      '!! clients/typescript/src/contract.ts',
      '!! node_modules',
      '!! openapi.json',
      '?? agents/shout/',
    ])
  })
})
