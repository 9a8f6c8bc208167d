/**
 * What AWS's own SDK needs to call an emulator: tests look at tables and queues with another client than the service's.
 * The queues are found at the emulator's address, whatever host a queue's own names.
 */
export const sdkConfig = (endpoint: string) => ({
  endpoint,
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})
export const sqsSdkConfig = (endpoint: string) => ({ ...sdkConfig(endpoint), useQueueUrlAsEndpoint: false })
