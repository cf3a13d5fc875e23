/** What the system's process says of itself. Sizes in bytes, of which the heap's right after a full collection. */
export interface Measures {
  heapUsed: number;
  /** buffers beside the heap */
  external: number;
  rss: number;
  /** open file descriptors, by what they are: `socket`, `pipe`, `anon_inode`, `file` */
  descriptors: Record<string, number>;
  /** processes that it started and that live: those of handlers, of which some stay warm, and what reaps them */
  processes: number;
  /** what keeps the event loop busy, by kind, as `process.getActiveResourcesInfo()` says */
  resources: Record<string, number>;
}
