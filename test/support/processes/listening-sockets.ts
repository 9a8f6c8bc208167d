import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const LISTEN = '0A'

/** The process and its descendants. */
export function processTree(pid: number): number[] {
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

/** Of the sockets that the process has open. */
export function socketInodes(pid: number): string[] {
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
