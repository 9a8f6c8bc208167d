import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Process ids of a process's children whose command line contains `text`. */
export async function childrenOf(pid: number, text: string): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args='])
  return stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match?.[2] === String(pid) && match[3]?.includes(text))
    .map((match) => Number(match?.[1]))
}

/** False when the process does not exist. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

export const isAlive = (pid: number) => sendSignal(pid, 0)

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs a program in the project's folder and shows its output. @throws an Error when its exit code is not 0 */
export async function runCommand(
  command: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<void> {
  const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...environment }, stdio: 'inherit' })
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} exited with ${signal ?? `code ${code}`}.`)
}

/** Polls a condition, also outside Vitest. @throws an Error that names `what` after `limitMs` */
export async function waitUntil(
  condition: () => Promise<boolean> | boolean,
  { what, limitMs, intervalMs = 15 }: { what: string; limitMs: number; intervalMs?: number },
): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, intervalMs))
  }
}

/** The kernel may count processor time in ticks of 4 ms: a short run is repeated until ticks matter little. */
const MIN_MEASUREMENT_MS = 40
const MAX_REPETITIONS = 10

/**
 * Median processor time of this thread in milliseconds for each size, the smallest first. Sizes are measured in turns,
 * so that changes in the load of the machine and warming up concern all of them.
 */
export function medianCpuTimes(
  sizes: readonly number[],
  prepare: (size: number) => () => void,
  rounds = 7,
): number[] {
  const runs = sizes.map((size) => ({ run: prepare(size), times: [] as number[] }))
  const [firstMs = 0] = runs.map(({ run }) => elapsedMs(run))
  const repetitions = Math.min(Math.max(Math.ceil(MIN_MEASUREMENT_MS / firstMs), 1), MAX_REPETITIONS)
  for (let round = 0; round < rounds; round += 1)
    for (const { run, times } of runs) times.push(cpuMs(run, repetitions))
  return runs.map(({ times }) => times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0)
}

function elapsedMs(run: () => void): number {
  const startedAt = performance.now()
  run()
  return performance.now() - startedAt
}

function cpuMs(run: () => void, repetitions: number): number {
  const before = process.threadCpuUsage()
  for (let count = 0; count < repetitions; count += 1) run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000 / repetitions
}

const LISTEN = '0A'

/** The process and its descendants. */
function processTree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readText(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(processTree)]
}

/**
 * The addresses and ports that a process tree listens on, from /proc (Linux only). Addresses are in the kernel's
 * notation: hexadecimal, 32-bit words in host byte order.
 */
export function listeningSockets(pid: number): { address: string; port: number }[] {
  const inodes = new Set(processTree(pid).flatMap(socketInodes))
  return ['tcp', 'tcp6']
    .flatMap((file) => readText(`/proc/net/${file}`).split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTEN && inodes.has(fields[9] ?? ''))
    .map((fields) => {
      const [address = '', port = ''] = (fields[1] ?? '').split(':')
      return { address, port: Number.parseInt(port, 16) }
    })
}

/** 127.0.0.0/8 and ::1. */
export const isLoopback = (address: string): boolean =>
  /^[0-9A-F]{6}7F$/.test(address) || address === '00000000000000000000000001000000'

/** The sockets that the process has open. */
function socketInodes(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((descriptor) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${descriptor}`))?.[1] ?? []
    } catch {
      return [] // Closed in the meantime.
    }
  })
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // The process has exited, or the kernel has no IPv6.
  }
}

/** The packages that a new process loads to run a script. */
export function loadedPackages(script: string, env: Record<string, string> = {}): string[] {
  const whole = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({
      load(url, context, next) {
        const name = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]
        if (name) loaded.add(name)
        return next(url, context)
      },
    })
    ${script}
    console.log(JSON.stringify([...loaded]))`
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', whole], {
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
      encoding: 'utf8',
    }),
  )
}
