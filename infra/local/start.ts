import { runService } from './service.ts'

try {
  const service = await runService(process.env, (line) => console.log(line))
  const stop = async () => {
    await service.stop()
    process.exit(0)
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
