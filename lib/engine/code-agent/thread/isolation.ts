import { DIVERGED } from '../../../core/trial.ts'
import { StepError } from './errors.ts'

/**
 * What opens connections, resolves names or starts processes and threads, by module: functions, and methods of classes.
 * Everything else of Node that does so calls one of them.
 */
const REFUSED: Record<string, string[]> = {
  net: ['connect', 'createConnection', 'Socket.connect', 'Server.listen'],
  tls: ['connect'],
  http: ['request', 'get'],
  https: ['request', 'get'],
  http2: ['connect'],
  dgram: ['createSocket', 'Socket.bind', 'Socket.connect', 'Socket.send'],
  child_process: [
    'exec',
    'execFile',
    'execFileSync',
    'execSync',
    'fork',
    'spawn',
    'spawnSync',
    'ChildProcess.spawn',
  ],
  worker_threads: ['Worker'],
}
const RESOLVING = /^(?:lookup|resolve|reverse)/
/** Of Node itself, which the modules above call. */
const BINDINGS = new Set([
  'cares_wrap',
  'pipe_wrap',
  'process_wrap',
  'spawn_sync',
  'tcp_wrap',
  'tls_wrap',
  'udp_wrap',
])

type Refuse = (call: string) => (...args: unknown[]) => never
type Properties = Record<string, unknown>

/**
 * For a replay: connections, DNS, child processes and threads throw, and end the run whatever the agent does with the
 * error. To be called in a new thread, before `syncBuiltinESMExports` and the agent's modules. It prevents accidents,
 * and is not a sandbox.
 */
export function isolate(endRun: (error: Error) => void): void {
  const refuse: Refuse = (call) => {
    // Not an arrow function: some are called with `new`.
    function refused(...args: unknown[]): never {
      const target = describeTarget(args)
      const what = target ? `${call} (${target})` : call
      const error = new StepError(DIVERGED, `The agent called ${what}, which is not available in a replay.`)
      endRun(error)
      throw error
    }
    return refused
  }
  for (const [id, calls] of Object.entries(REFUSED)) {
    const module = builtIn(id)
    for (const call of calls) {
      const [name = '', method] = call.split('.')
      const owner = method === undefined ? module : (module[name] as { prototype: Properties }).prototype
      owner[method ?? name] = refuse(`${id}.${call}`)
    }
  }
  for (const id of ['dns', 'dns/promises']) refuseResolving(id, refuse)
  globalThis.fetch = refuse('fetch')
  for (const name of ['WebSocket', 'EventSource']) refuseConstruction(name, refuse)
  refuseBindings(refuse)
}

/** Not imported: only threads of replays load all of these modules. */
const builtIn = (id: string): Properties => process.getBuiltinModule(id) as Properties

function refuseResolving(id: string, refuse: Refuse): void {
  const module = builtIn(id)
  const { prototype } = module.Resolver as { prototype: Properties }
  for (const owner of [module, prototype])
    for (const name of Object.getOwnPropertyNames(owner))
      if (RESOLVING.test(name)) owner[name] = refuse(`${id.replace('/', '.')}.${name}`)
}

/** Without reading the global, which would load undici. */
function refuseConstruction(name: string, refuse: Refuse): void {
  const property = Object.getOwnPropertyDescriptor(globalThis, name)
  if (!property) return
  const read = (): unknown => (property.get ? property.get.call(globalThis) : property.value)
  let value: unknown
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable: property.enumerable ?? false,
    get: () => {
      value ??= new Proxy(read() as object, { construct: (_, args) => refuse(name)(...args) })
      return value
    },
    set: (replaced: unknown) => {
      value = replaced
    },
  })
}

function refuseBindings(refuse: Refuse): void {
  const internal = process as unknown as { binding: (name: string) => unknown }
  const { binding } = internal
  internal.binding = (name) =>
    BINDINGS.has(name) ? refuse('process.binding')(name) : binding.call(process, name)
}

const NAMING = ['url', 'host', 'hostname', 'port', 'path', 'file']
const MAX_TARGET = 200

/** The host, address, file or command that a call names. */
function describeTarget(args: unknown[]): string {
  try {
    const parts = args.flat().map(describeArgument)
    return parts.filter(Boolean).join(' ').slice(0, MAX_TARGET)
  } catch {
    return ''
  }
}

function describeArgument(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (value instanceof URL) return value.href
  if (typeof value !== 'object' || value === null) return ''
  const named = value as Properties
  return NAMING.map((key) => named[key])
    .filter((part) => typeof part === 'string' || typeof part === 'number')
    .join(' ')
}
