import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'aes-ci-'))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, '.ci'))
  cpSync(join(ROOT, '.ci/run'), join(folder, '.ci/run'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

const environmentWith = (more: Record<string, string> = {}) => ({
  ...process.env,
  CHROMIUM: '/bin/true',
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  ...more,
})

function writeScript(name: string, text: string): void {
  writeFileSync(join(folder, name), `#!/usr/bin/env bash\n${text}\n`)
  chmodSync(join(folder, name), 0o755)
}

/** A program that ends, with what it printed. */
const runSync = (file: string, args: string[], env: NodeJS.ProcessEnv) =>
  spawnSync(file, args, { cwd: folder, env, encoding: 'utf8', timeout: 60_000 })

/** Runs `.ci/run` with an `npm` of this text. */
function runCi(npm: string, environment: Record<string, string> = {}) {
  writeScript('bin/npm', npm)
  const { status, stdout } = runSync(join(folder, '.ci/run'), [], environmentWith(environment))
  return { status, lastLine: stdout.split('\n').at(-2), endsWithLine: stdout.endsWith('\n') }
}

const record = (...lines: string[]) => lines.map((line) => `printf '${line}\\n' >> "$CI_RESULTS"`).join('\n')

describe('.ci/run', () => {
  const passing = record('passed\\tlint', 'passed\\ta.test.ts 1 x', 'passed\\ta.test.ts 2 x')
  const repeated = record('passed\\ta', 'failed\\ta', 'passed\\ta', 'passed\\tb', 'passed\\tb')

  it.each([
    [
      'adds up what passed',
      `[ "$1" = ci ] || { ${passing.replaceAll('\n', '; ')}; }`,
      0,
      '3 passed, 0 failed',
    ],
    [
      'counts a test that ran twice once, as failed if it failed once',
      `${repeated}\nexit 1`,
      1,
      '1 passed, 1 failed',
    ],
    [
      'keeps the exit code',
      `${record('passed\\ta', 'failed\\tb', 'failed\\tc')}\nexit 7`,
      7,
      '1 passed, 2 failed',
    ],
    [
      'counts whatever stopped it without a result',
      `${record('passed\\ta')}\nexit 3`,
      3,
      '1 passed, 1 failed',
    ],
    ['says so when nothing ran', 'exit 1', 1, '0 passed, 1 failed'],
    ['ignores a half-written line', `printf 'pas' >> "$CI_RESULTS"; exit 1`, 1, '0 passed, 1 failed'],
    ['ends a line that a check left open', `printf 'no line end'; exit 2`, 2, '0 passed, 1 failed'],
  ])('%s', (_, npm, status, lastLine) => {
    expect(runCi(npm)).toEqual({ status, lastLine, endsWithLine: true })
  })

  it.each([
    ['SIGTERM', 'its group', 143],
    ['SIGINT', 'its group', 130],
    ['SIGTERM', 'it alone', 143],
    ['SIGINT', 'it alone', 130],
  ] as const)(
    'prints the line also when %s is sent to %s, and waits for nothing',
    async (signal, to, code) => {
      // A process that this npm started keeps stdout open as long as it runs.
      writeScript('bin/npm', `${record('passed\\ta')}\necho ready\nsleep 300 &\nwait`)
      const child = spawn(join(folder, '.ci/run'), { env: environmentWith(), detached: true })
      let stdout = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
        // The whole group, as Ctrl-C does, or the script, as some CI systems do before they kill everything.
        if (text.includes('ready')) process.kill((child.pid ?? 0) * (to === 'its group' ? -1 : 1), signal)
      })
      expect(await once(child, 'close')).toEqual([code, null])
      expect(stdout).toMatch(/\n1 passed, 1 failed\n$/)
    },
  )

  it.each([0, 7])('keeps the exit code %d when nobody reads the line', (code) => {
    writeScript('bin/npm', `exit ${code}`)
    for (const stdout of ['&-', '/dev/full']) {
      const args = ['-c', `"$0" >${stdout}`, join(folder, '.ci/run')]
      expect(runSync('bash', args, environmentWith()).status).toBe(code)
    }
  })

  it('prints the line also when there is no place for results', () => {
    const outcome = runCi('exit 0', { TMPDIR: join(folder, 'none') })
    expect(outcome).toMatchObject({ status: 1, lastLine: '0 passed, 1 failed' })
  })

  it('prints the line also when Chromium is missing', () => {
    for (const name of ['awk', 'dirname', 'id', 'mktemp', 'rm'])
      symlinkSync(`/usr/bin/${name}`, join(folder, 'bin', name))
    const env = { PATH: join(folder, 'bin') }
    const { status, stdout } = runSync('/bin/bash', [join(folder, '.ci/run')], env)
    expect([status, stdout.trim().split('\n').at(-1)]).toEqual([1, '0 passed, 1 failed'])
  })
})

/** Runs scripts with `npm run ci`, as a package of these scripts. */
function runScripts(scripts: Record<string, string>) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }))
  const results = join(folder, 'results')
  const args = [join(ROOT, 'test/ci/main.ts'), ...Object.keys(scripts)]
  const { status, stdout } = runSync(process.execPath, args, environmentWith({ CI_RESULTS: results }))
  return { status, stdout, results: readFileSync(results, 'utf8').trimEnd().split('\n') }
}

describe('npm run ci', () => {
  it('records scripts, and stops at the first one that fails', () => {
    expect(runScripts({ lint: 'true', types: 'exit 5', later: 'true' })).toMatchObject({
      status: 5,
      results: ['passed\tnpm run lint', 'failed\tnpm run types'],
    })
  })

  it('records a script that records tests only if it fails without a failed test', () => {
    const passing = `printf 'passed\\ta\\n' >> "$CI_RESULTS"`
    const failing = `printf 'failed\\tb\\n' >> "$CI_RESULTS"`
    expect(runScripts({ tests: passing, more: `${failing}; exit 1` })).toMatchObject({
      status: 1,
      results: ['passed\ta', 'failed\tb'],
    })
    rmSync(join(folder, 'results'))
    expect(runScripts({ tests: `${passing}; kill -9 $$` })).toMatchObject({
      results: ['passed\ta', 'failed\tnpm run tests'],
    })
  })

  it('prints the seconds of each script and the ten slowest files, also when a script fails', () => {
    const files = Array.from(
      { length: 12 },
      (_, i) => `printf 'file\\t${i}.5\\tf${i}.test.ts\\n' >> "$CI_RESULTS"`,
    )
    const { stdout } = runScripts({ tests: files.join('; '), types: 'exit 5' })
    const table = stdout.slice(stdout.indexOf('Seconds per script')).trimEnd()
    const slowest = Array.from({ length: 10 }, (_, i) => `f${11 - i}.test.ts`)
    expect(table.match(/(?<=^ *\d+\.\d {2}).*/gm)).toEqual(['npm run tests', 'npm run types', ...slowest])
  })

  it('records each test of vitest, files and hooks that fail, and unhandled errors', () => {
    const tests = {
      'a.test.ts':
        "it('passes', () => {}); it('fails', () => { expect(1).toBe(2) }); it.skip('skipped', () => {})",
      'broken.test.ts': "throw new Error('not loaded')",
      'hook.test.ts': "beforeAll(() => { throw new Error('hook') }); it('never runs', () => {})",
      'late.test.ts':
        "it('passes', () => { setTimeout(() => { throw new Error('late') }) }); it('waits', () => new Promise((done) => setTimeout(done, 50)))",
    }
    const tools = "import { beforeAll, expect, it } from 'vitest'\n"
    const project = mkdtempSync(join(ROOT, 'node_modules/.cache-ci-'))
    onTestFinished(() => rmSync(project, { recursive: true }))
    for (const [name, text] of Object.entries(tests)) writeFileSync(join(project, name), tools + text)
    const results = join(folder, 'results')
    const reporter = join(ROOT, 'test/ci/results-reporter.ts')
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
    const args = [vitest, 'run', '--root', project, '--config', 'none.ts']
    writeFileSync(join(project, 'none.ts'), 'export default {}\n')
    const { status } = spawnSync(process.execPath, [...args, `--reporter=${reporter}`], {
      env: environmentWith({ CI_RESULTS: results }),
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    const recorded = readFileSync(results, 'utf8').trimEnd().split('\n')
    const short = recorded.map((line) =>
      line.replace(/ -?[0-9]+(_[0-9]+)+ /, ' ').replace(/^file\t[\d.]+/, 'file'),
    )
    expect(short.toSorted()).toEqual([
      'failed\ta.test.ts fails',
      'failed\tbroken.test.ts',
      'failed\thook.test.ts',
      expect.stringMatching(/^failed\tunhandled errors run /),
      ...['a', 'broken', 'hook', 'late'].map((name) => `file\t${name}.test.ts`),
      'passed\ta.test.ts passes',
      'passed\tlate.test.ts passes',
      'passed\tlate.test.ts waits',
    ])
  })
})
