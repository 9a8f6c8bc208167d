import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { getCallSites, promisify } from 'node:util'

/**
 * Detects what a run leaves behind in its thread: open handles such as timers and sockets, changed environment
 * variables, new globals, and patched built-ins. A thread with any of these is not used again.
 */
export function watchThread(): { isClean: () => boolean } {
  let builtIns = readBuiltIns()
  const environment = JSON.stringify(process.env)
  const handles = countHandles()
  return {
    isClean: () => {
      const isClean =
        JSON.stringify(process.env) === environment &&
        isWithin(countHandles(), handles) &&
        isUnchanged(builtIns)
      if (isClean && builtIns.hasUndici !== isUndiciLoaded()) builtIns = readBuiltIns()
      return isClean
    },
  }
}

function countHandles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

const isWithin = (counts: Map<string, number>, limits: Map<string, number>): boolean =>
  [...counts].every(([type, count]) => count <= (limits.get(type) ?? 0))

/** Reading one of these globals loads undici, which takes 20 ms: they are compared once the agent has loaded it. */
const OF_UNDICI = new Set([
  'FormData',
  'Headers',
  'Request',
  'Response',
  'MessageEvent',
  'CloseEvent',
  'WebSocket',
  'EventSource',
])
const isUndiciLoaded = () => Symbol.for('undici.globalDispatcher.1') in globalThis

type BuiltIns = {
  /** Number of properties of the global object. */
  globals: number
  hasUndici: boolean
  objects: { object: object; keys: number }[]
  values: { object: Record<PropertyKey, unknown>; key: PropertyKey; value: unknown }[]
  accessors: { object: object; key: PropertyKey; get: unknown }[]
}

/**
 * Globals, their properties, and those of their prototypes. Getters are not called, because some load modules. Symbols
 * of the global object are ignored, because Node adds some when `fetch` is first used.
 */
function readBuiltIns(): BuiltIns {
  const allNames = Object.getOwnPropertyNames(globalThis)
  const hasUndici = isUndiciLoaded()
  const builtIns: BuiltIns = { globals: allNames.length, hasUndici, objects: [], values: [], accessors: [] }
  const addProperties = (object: object, keys: PropertyKey[]) => {
    for (const key of keys) {
      const { value, get } = Reflect.getOwnPropertyDescriptor(object, key) ?? {}
      if (get) builtIns.accessors.push({ object, key, get })
      else builtIns.values.push({ object: object as Record<PropertyKey, unknown>, key, value })
    }
  }
  const names = hasUndici ? allNames : allNames.filter((name) => !OF_UNDICI.has(name))
  addProperties(globalThis, names)
  for (const name of names) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value
    if (!isObject(value) || value === globalThis || value === process) continue
    const prototype: unknown = Reflect.getOwnPropertyDescriptor(value, 'prototype')?.value
    for (const object of isObject(prototype) ? [value, prototype] : [value]) {
      const keys = Reflect.ownKeys(object)
      builtIns.objects.push({ object, keys: keys.length })
      addProperties(object, keys)
    }
  }
  builtIns.values = builtIns.values.filter(({ value }) => !Number.isNaN(value))
  return builtIns
}

const isUnchanged = ({ globals, objects, values, accessors }: BuiltIns): boolean =>
  Object.getOwnPropertyNames(globalThis).length === globals &&
  objects.every(({ object, keys }) => Reflect.ownKeys(object).length === keys) &&
  values.every(({ object, key, value }) => object[key] === value) &&
  accessors.every(({ object, key, get }) => Reflect.getOwnPropertyDescriptor(object, key)?.get === get)

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

type StartTimer = (callback: (...values: unknown[]) => void, ...rest: unknown[]) => NodeJS.Timeout

const { clearTimeout } = timers
/** That have neither ended nor been cleared, with or without a reference. */
const pending = new Set<NodeJS.Timeout>()
let hasDetached = false

/**
 * Knows the timers of the agent: Node lists only those with a reference. Replaces the functions of `node:timers` and
 * the global ones; an agent is loaded afterwards.
 */
export function watchTimers(): void {
  const watched = {
    setTimeout: watchStart(timers.setTimeout as StartTimer, true),
    setInterval: watchStart(timers.setInterval as StartTimer, false),
    clearTimeout: watchClear(timers.clearTimeout),
    clearInterval: watchClear(timers.clearInterval),
  }
  Object.defineProperty(watched.setTimeout, promisify.custom, {
    get: () => timersPromises.setTimeout,
  })
  Object.assign(globalThis, watched)
  Object.assign(timers, watched)
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const start = timersPromises[name] as (...values: unknown[]) => unknown
    Object.assign(timersPromises, {
      [name]: (ms: unknown, value?: unknown, options?: { ref?: boolean }) => {
        hasDetached ||= options?.ref === false
        return start(ms, value, options)
      },
    })
  }
}

/** The timers so far are those of the agent's modules, and belong to no run. */
export function keepTimers(): void {
  pending.clear()
  hasDetached = false
}

/** Clears all timers. Returns whether there were any: such a thread is discarded, as modules may rely on them. */
export function clearTimers(): boolean {
  const hadTimers = pending.size > 0 || hasDetached
  for (const timer of pending) clearTimeout(timer)
  pending.clear()
  return hadTimers
}

function watchStart(start: StartTimer, endsItself: boolean): StartTimer {
  return (callback, ...rest) => {
    // Node's own fetch closes its connections after a few seconds.
    if (typeof callback !== 'function' || isCalledByNode()) return start(callback, ...rest)
    const timer = start(
      function (this: unknown, ...values) {
        if (endsItself) pending.delete(timer)
        callback.apply(this, values)
      },
      ...rest,
    )
    pending.add(timer)
    return timer
  }
}

function watchClear(clear: (timer: NodeJS.Timeout | undefined) => void) {
  return (timer: NodeJS.Timeout | undefined) => {
    if (timer) pending.delete(timer)
    clear(timer)
  }
}

const isCalledByNode = (): boolean => getCallSites(3)[2]?.scriptName.startsWith('node:') ?? false
