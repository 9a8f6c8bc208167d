import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** What a process holds. */
export type Resources = { rssMiB: number; heapMiB: number; sockets: number; files: number }
export type ProcessSample = Resources & { process: string }

/** Reads a process's memory and open handles from /proc. */
export function readHandles(pid: number): Omit<Resources, 'heapMiB'> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const rssKiB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
  const targets = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      // Closed since the folder was read.
      return []
    }
  })
  const sockets = targets.filter((target) => target.startsWith('socket:')).length
  return { rssMiB: rssKiB / 1024, sockets, files: targets.length - sockets }
}

/** The URLs that Node processes print when they are started with `--inspect`. */
export const inspectorUrls = (output: string): string[] =>
  [...output.matchAll(/^Debugger listening on (ws:\S+)$/gm)].map(([, url = '']) => url)

/**
 * Collects all garbage of a Node process and returns its id and the size of what is left on the heap; null if it has
 * exited. https://chromedevtools.github.io/devtools-protocol/v8/HeapProfiler/#method-collectGarbage
 */
export async function collectGarbage(url: string): Promise<{ pid: number; heapMiB: number } | null> {
  const socket = new WebSocket(url)
  const opened = await new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true })
    socket.addEventListener('error', () => resolve(false), { once: true })
  })
  if (!opened) return null
  let id = 0
  const send = (method: string, params: object = {}) =>
    new Promise<ReturnType<typeof JSON.parse>>((resolve, reject) => {
      const requestId = ++id
      socket.addEventListener('close', () => reject(new Error(`${url} was closed.`)), { once: true })
      socket.addEventListener('message', function onMessage({ data }) {
        const response = JSON.parse(String(data))
        if (response.id !== requestId) return
        socket.removeEventListener('message', onMessage)
        resolve(response.result)
      })
      socket.send(JSON.stringify({ id: requestId, method, params }))
    })
  try {
    const { result } = await send('Runtime.evaluate', { expression: 'process.pid' })
    // Twice: finalizers that the first one runs free more.
    await send('HeapProfiler.collectGarbage')
    await send('HeapProfiler.collectGarbage')
    const { usedSize } = await send('Runtime.getHeapUsage')
    return { pid: result.value, heapMiB: usedSize / 2 ** 20 }
  } finally {
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }))
    socket.close()
    await closed
  }
}
