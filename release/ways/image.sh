# The image's root file system, with the image's user, command and health check. With docker: docker load
# needs: chroot tar python3
mkdir image root
tar -xf "$DIST"/miniredisd-*-image-"$ARCH".tar -C image
layer=$(python3 -c 'import json; print(json.load(open("image/manifest.json"))[0]["Layers"][0])')
tar -xzpf "image/$layer" -C root

inside="chroot --userspec=65532:65532 root"
$inside /usr/local/bin/redis-server --bind 0.0.0.0 --protected-mode no --port 0 --dir /data --port-file /data/port &
server=$!
until [ -s root/data/port ]; do kill -0 $server && sleep 0.02; done
$inside /usr/local/bin/miniredisd health "redis://127.0.0.1:$(cat root/data/port)"
kill $server
wait $server
test ! -e root/data/port
